import { StringDecoder } from "node:string_decoder";
import { array, assert, asyncProperty, constantFrom, integer, nat, property, record, string } from "fast-check";
import { afterAll, describe, expect, test } from "vitest";
import { SpillFiles } from "../../src/output/spill-file.ts";
import { Transcript } from "../../src/output/transcript.ts";
import type { OutputStream } from "../../src/protocol/execution.ts";

const files = new SpillFiles();
afterAll(() => files.close());

type Event = {
  readonly type: string;
  readonly stream?: OutputStream;
  readonly text?: string;
  readonly omitted?: number;
};

class TestTranscript extends Transcript<Event> {
  protected override startEvent(): Event {
    return { type: "start" };
  }
  protected override deltaEvent(_: unknown, stream: OutputStream, text: string): Event {
    return { type: "delta", stream, text };
  }
  protected override gapEvent(_: unknown, stream: OutputStream, omitted: number): Event {
    return { type: "gap", stream, omitted };
  }
  protected override lastEvent(): Event {
    return { type: "end" };
  }
  open(): void {
    this.begin();
  }
  finish(): void {
    this.end();
  }
}

const chunk = record({
  stream: constantFrom("stdout" as const, "stderr" as const),
  text: string({ minLength: 1, maxLength: 30 }),
});

function createTranscript(
  chunks: readonly { stream: OutputStream; text: string }[],
  readableBytes: number,
): TestTranscript {
  const transcript = new TestTranscript({ keptBytes: 40, readableBytes, files });
  transcript.open();
  chunks.forEach(({ stream, text }, index) => transcript.appendOutput(stream, Buffer.from(text), index, 0));
  transcript.finish();
  return transcript;
}

describe("Transcript", () => {
  test("output() returns both streams in print order, from any offset", () => {
    assert(
      property(array(chunk, { maxLength: 20 }), nat(400), integer({ min: 1, max: 50 }), (chunks, offset, length) => {
        const whole = Buffer.from(chunks.map(({ text }) => text).join(""));
        const transcript = createTranscript(chunks, 1_000_000);
        const slice = transcript.output({ offset, length });
        expect(slice.bytes).toEqual(whole.subarray(offset, offset + length));
        expect(slice).toMatchObject({ totalBytes: whole.length, readableBytes: whole.length });
        transcript.printed.close();
      }),
    );
  });

  test("output() in pieces adds up to what was printed, up to what was dropped", () => {
    assert(
      property(array(chunk, { maxLength: 20 }), integer({ min: 1, max: 9 }), (chunks, length) => {
        const whole = Buffer.from(chunks.map(({ text }) => text).join(""));
        const transcript = createTranscript(chunks, 60);
        let read = Buffer.alloc(0);
        for (
          let next = transcript.output({ length });
          next.bytes.length > 0;
          next = transcript.output({ offset: next.nextOffset, length })
        ) {
          read = Buffer.concat([read, next.bytes]);
        }
        expect(read.length).toBe(transcript.output().readableBytes);
        expect(read).toEqual(whole.subarray(0, read.length));
        transcript.printed.close();
      }),
    );
  });

  test("replays what was printed on each stream, between a start and an end", async () => {
    await assert(
      asyncProperty(array(chunk, { maxLength: 20 }), async (chunks) => {
        const transcript = createTranscript(chunks, 1_000_000);
        const replayed = { stdout: "", stderr: "" };
        const types: string[] = [];
        for await (const event of transcript) {
          types.push(event.type);
          if (event.stream !== undefined) replayed[event.stream] += event.text ?? "";
        }
        const of = (stream: OutputStream) =>
          chunks.flatMap((each) => (each.stream === stream ? [each.text] : [])).join("");
        expect(replayed).toEqual({
          stdout: Buffer.from(of("stdout")).toString(),
          stderr: Buffer.from(of("stderr")).toString(),
        });
        expect([types[0], types.at(-1)]).toEqual(["start", "end"]);
        transcript.printed.close();
      }),
    );
  });

  test("loses nothing when the streams alternate all the time, neither by offset nor when iterated", async () => {
    const transcript = new TestTranscript({ keptBytes: 1000, readableBytes: 10_000_000, files });
    transcript.open();
    const replayed = { stdout: "", stderr: "" };
    const iterating = (async () => {
      for await (const { stream, text = "" } of transcript) if (stream !== undefined) replayed[stream] += text;
    })();
    const printed = { stdout: "", stderr: "" };
    let read = Buffer.alloc(0);
    for (let index = 0; index < 200_000; index += 1) {
      const stream = index % 2 === 0 ? "stdout" : "stderr";
      const text = stream === "stdout" ? String(index % 10) : "abcdefghij".charAt(index % 10);
      printed[stream] += text;
      transcript.appendOutput(stream, Buffer.from(text), index, 0);
      if (index % 20_000 !== 0) continue;
      read = Buffer.concat([read, transcript.output({ offset: read.length }).bytes]);
      await new Promise(setImmediate);
    }
    transcript.finish();
    await iterating;
    expect(replayed.stdout === printed.stdout && replayed.stderr === printed.stderr).toBe(true);
    read = Buffer.concat([read, transcript.output({ offset: read.length }).bytes]);
    expect(read.equals(transcript.output({ length: Infinity }).bytes)).toBe(true);
    expect(read.length).toBe(200_000);
    expect(read.toString().replace(/\D/g, "") === printed.stdout).toBe(true);
    transcript.printed.close();
  });

  test("keeps only the size after its output is closed, also of later output", async () => {
    const transcript = createTranscript([{ stream: "stdout", text: "gone" }], 1000);
    transcript.printed.close();
    transcript.appendOutput("stdout", Buffer.from(" later"), 9, 0);
    const events: Event[] = [];
    for await (const event of transcript) events.push(event);
    expect(events.slice(1)).toEqual([{ type: "gap", stream: "stdout", omitted: 10 }, { type: "end" }]);
    expect(transcript.output()).toMatchObject({ bytes: Buffer.alloc(0), totalBytes: 10, readableBytes: 0 });
    expect(transcript.printed.of("stdout")?.summary().cut).toEqual({ total: 10, omitted: 10 });
  });

  test.each([-1, 1.5, Number.NaN, Number.NEGATIVE_INFINITY])(
    "output() refuses %s as an offset or a length",
    (offset) => {
      const transcript = createTranscript([{ stream: "stdout", text: "text" }], 1000);
      expect(() => transcript.output({ offset })).toThrow(RangeError);
      expect(() => transcript.output({ offset, stream: "stdout" })).toThrow(RangeError);
      expect(() => transcript.output({ length: offset })).toThrow(RangeError);
      expect(transcript.output({ offset: 100 })).toMatchObject({ bytes: Buffer.alloc(0), nextOffset: 100 });
      transcript.printed.close();
    },
  );

  test("lastLine() is the last line that is not empty", () => {
    const transcript = createTranscript([{ stream: "stdout", text: "10 %\r20 %\r30 %\n\n  \n" }], 1000);
    expect(transcript.lastLine()).toBe("30 %");
    expect(createTranscript([], 1000).lastLine()).toBe("");
    transcript.printed.close();
  });
});

describe("Transcript.follow()", () => {
  const read = async (
    transcript: TestTranscript,
    after?: string,
  ): Promise<readonly { event: Event; cursor: string }[]> => {
    const events = [];
    for await (const one of transcript.follow(after === undefined ? {} : { after })) events.push(one);
    return events;
  };

  test("resumes after any cursor: nothing twice, nothing lost, no broken characters", async () => {
    const bytes = Buffer.from("é€😀x\n").toJSON().data;
    const piece = record({
      stream: constantFrom("stdout" as const, "stderr" as const),
      take: integer({ min: 1, max: 7 }),
    });
    await assert(
      asyncProperty(array(piece, { maxLength: 25 }), async (pieces) => {
        const transcript = new TestTranscript({ keptBytes: 40, readableBytes: 1_000_000, files });
        transcript.open();
        const at = { stdout: 0, stderr: 0 };
        pieces.forEach(({ stream, take }, index) => {
          const data = Array.from({ length: take }, () => bytes[at[stream]++ % bytes.length] ?? 0);
          transcript.appendOutput(stream, Buffer.from(data), index, 0);
          if (take === 7) transcript.appendEvent({ type: `event ${index}` });
        });
        transcript.finish();
        const whole = await read(transcript);
        for (const [index, { cursor }] of whole.entries()) {
          expect(await read(transcript, cursor)).toEqual(whole.slice(index + 1));
        }
        transcript.printed.close();
      }),
      { numRuns: 60 },
    );
  });

  test("resumes a live listener from the cursor of any moment", async () => {
    const bytes = Buffer.from("é€😀x\n").toJSON().data;
    const piece = record({
      stream: constantFrom("stdout" as const, "stderr" as const),
      take: integer({ min: 1, max: 7 }),
    });
    await assert(
      asyncProperty(array(piece, { maxLength: 15 }), async (pieces) => {
        const transcript = new TestTranscript({ keptBytes: 40, readableBytes: 1_000_000, files });
        expect(transcript.cursor).toBeUndefined();
        transcript.open();
        const at = { stdout: 0, stderr: 0 };
        const decoders = { stdout: new StringDecoder("utf8"), stderr: new StringDecoder("utf8") };
        const heard = { stdout: "", stderr: "" };
        const moments = [{ ...heard, cursor: transcript.cursor }];
        pieces.forEach(({ stream, take }, index) => {
          const data = Buffer.from(Array.from({ length: take }, () => bytes[at[stream]++ % bytes.length] ?? 0));
          transcript.appendOutput(stream, data, index, 0);
          heard[stream] += decoders[stream].write(data);
          if (take === 7) transcript.appendEvent({ type: `event ${index}` });
          moments.push({ ...heard, cursor: transcript.cursor });
        });
        transcript.finish();
        expect(transcript.cursor).toBe("end");
        const whole = toTexts(await read(transcript));
        for (const { stdout, stderr, cursor } of moments) {
          const rest = toTexts(await read(transcript, cursor));
          expect({ stdout: stdout + rest.stdout, stderr: stderr + rest.stderr }).toEqual(whole);
        }
        transcript.printed.close();
      }),
      { numRuns: 60 },
    );
  });

  const toTexts = (events: readonly { readonly event: Event }[]): { stdout: string; stderr: string } => {
    const texts = { stdout: "", stderr: "" };
    for (const { event } of events) if (event.stream !== undefined) texts[event.stream] += event.text ?? "";
    return texts;
  };

  test("refuses an invalid cursor, and ends for one past the last event", async () => {
    const transcript = createTranscript([{ stream: "stdout", text: "abc" }], 100);
    for (const after of ["", "x", "1", "-1.0", "0.0.zz.", "1e3.0", "0.0.00000000."]) {
      expect(() => transcript.follow({ after })).toThrow(RangeError);
    }
    expect((await read(transcript, "999999999.0")).map(({ event }) => event.type)).toEqual(["end"]);
    expect((await read(transcript, "0.999999999999999")).map(({ event }) => event.type)).toEqual(["end"]);
    expect(await read(transcript, "end")).toEqual([]);
    transcript.printed.close();
  });

  test("ends when its signal is aborted while it waits", async () => {
    const transcript = new TestTranscript({ keptBytes: 40, readableBytes: 100, files });
    transcript.open();
    const controller = new AbortController();
    const reader = transcript.follow({ signal: controller.signal });
    expect(await reader.next()).toMatchObject({ value: { event: { type: "start" } } });
    const next = reader.next();
    controller.abort();
    expect(await next).toEqual({ value: undefined, done: true });
    transcript.finish();
    transcript.printed.close();
  });
});
