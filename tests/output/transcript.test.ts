import { StringDecoder } from "node:string_decoder";
import { array, assert, asyncProperty, constantFrom, integer, nat, property, record, string } from "fast-check";
import { afterAll, describe, expect, test } from "vitest";
import { SpillFiles } from "../../src/output/spill-file.ts";
import { Story } from "../../src/output/transcript.ts";
import type { OutputStream } from "../../src/protocol/execution.ts";

const files = new SpillFiles();
afterAll(() => files.close());

type Event = {
  readonly type: string;
  readonly stream?: OutputStream;
  readonly text?: string;
  readonly omitted?: number;
};

class TestStory extends Story<Event> {
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

function tell(chunks: readonly { stream: OutputStream; text: string }[], readableBytes: number): TestStory {
  const story = new TestStory({ keptBytes: 40, readableBytes, files });
  story.open();
  chunks.forEach(({ stream, text }, index) => story.appendOutput(stream, Buffer.from(text), index, 0));
  story.finish();
  return story;
}

describe("a story", () => {
  test("gives both streams in the order in which they came, from any offset", () => {
    assert(
      property(array(chunk, { maxLength: 20 }), nat(400), integer({ min: 1, max: 50 }), (chunks, offset, length) => {
        const whole = Buffer.from(chunks.map(({ text }) => text).join(""));
        const story = tell(chunks, 1_000_000);
        const slice = story.output({ offset, length });
        expect(slice.bytes).toEqual(whole.subarray(offset, offset + length));
        expect(slice).toMatchObject({ totalBytes: whole.length, readableBytes: whole.length });
        story.printed.close();
      }),
    );
  });

  test("read piece by piece is what was printed, up to what was dropped", () => {
    assert(
      property(array(chunk, { maxLength: 20 }), integer({ min: 1, max: 9 }), (chunks, length) => {
        const whole = Buffer.from(chunks.map(({ text }) => text).join(""));
        const story = tell(chunks, 60);
        let read = Buffer.alloc(0);
        for (
          let next = story.output({ length });
          next.bytes.length > 0;
          next = story.output({ offset: next.nextOffset, length })
        ) {
          read = Buffer.concat([read, next.bytes]);
        }
        expect(read.length).toBe(story.output().readableBytes);
        expect(read).toEqual(whole.subarray(0, read.length));
        story.printed.close();
      }),
    );
  });

  test("tells what was printed on each stream, and how much was dropped", async () => {
    await assert(
      asyncProperty(array(chunk, { maxLength: 20 }), async (chunks) => {
        const story = tell(chunks, 1_000_000);
        const told = { stdout: "", stderr: "" };
        const types: string[] = [];
        for await (const event of story) {
          types.push(event.type);
          if (event.stream !== undefined) told[event.stream] += event.text ?? "";
        }
        const of = (stream: OutputStream) =>
          chunks.flatMap((each) => (each.stream === stream ? [each.text] : [])).join("");
        expect(told).toEqual({
          stdout: Buffer.from(of("stdout")).toString(),
          stderr: Buffer.from(of("stderr")).toString(),
        });
        expect([types[0], types.at(-1)]).toEqual(["start", "end"]);
        story.printed.close();
      }),
    );
  });

  test("that changes between the streams all the time can be read on from every offset, and iterated, without loss", async () => {
    const story = new TestStory({ keptBytes: 1000, readableBytes: 10_000_000, files });
    story.open();
    const told = { stdout: "", stderr: "" };
    const iterating = (async () => {
      for await (const { stream, text = "" } of story) if (stream !== undefined) told[stream] += text;
    })();
    const printed = { stdout: "", stderr: "" };
    let read = Buffer.alloc(0);
    for (let index = 0; index < 200_000; index += 1) {
      const stream = index % 2 === 0 ? "stdout" : "stderr";
      const text = stream === "stdout" ? String(index % 10) : "abcdefghij".charAt(index % 10);
      printed[stream] += text;
      story.appendOutput(stream, Buffer.from(text), index, 0);
      if (index % 20_000 !== 0) continue;
      read = Buffer.concat([read, story.output({ offset: read.length }).bytes]);
      await new Promise(setImmediate);
    }
    story.finish();
    await iterating;
    expect(told.stdout === printed.stdout && told.stderr === printed.stderr).toBe(true);
    read = Buffer.concat([read, story.output({ offset: read.length }).bytes]);
    expect(read.equals(story.output({ length: Infinity }).bytes)).toBe(true);
    expect(read.length).toBe(200_000);
    expect(read.toString().replace(/\D/g, "") === printed.stdout).toBe(true);
    story.printed.close();
  });

  test("that was forgotten says how much it was, and keeps nothing of what comes later", async () => {
    const story = tell([{ stream: "stdout", text: "gone" }], 1000);
    story.printed.close();
    story.appendOutput("stdout", Buffer.from(" later"), 9, 0);
    const events: Event[] = [];
    for await (const event of story) events.push(event);
    expect(events.slice(1)).toEqual([{ type: "gap", stream: "stdout", omitted: 10 }, { type: "end" }]);
    expect(story.output()).toMatchObject({ bytes: Buffer.alloc(0), totalBytes: 10, readableBytes: 0 });
    expect(story.printed.of("stdout")?.summary().cut).toEqual({ total: 10, omitted: 10 });
  });

  test.each([-1, 1.5, Number.NaN, Number.NEGATIVE_INFINITY])("refuses %s as a place in it", (offset) => {
    const story = tell([{ stream: "stdout", text: "text" }], 1000);
    expect(() => story.output({ offset })).toThrow(RangeError);
    expect(() => story.output({ offset, stream: "stdout" })).toThrow(RangeError);
    expect(() => story.output({ length: offset })).toThrow(RangeError);
    expect(story.output({ offset: 100 })).toMatchObject({ bytes: Buffer.alloc(0), nextOffset: 100 });
    story.printed.close();
  });

  test("knows its last line", () => {
    const story = tell([{ stream: "stdout", text: "10 %\r20 %\r30 %\n\n  \n" }], 1000);
    expect(story.lastLine()).toBe("30 %");
    expect(tell([], 1000).lastLine()).toBe("");
    story.printed.close();
  });
});

describe("a story that is followed", () => {
  const read = async (story: TestStory, after?: string): Promise<readonly { event: Event; place: string }[]> => {
    const told = [];
    for await (const one of story.follow(after === undefined ? {} : { after })) told.push(one);
    return told;
  };

  test("goes on after any place: nothing twice, nothing lost, no character broken", async () => {
    const bytes = Buffer.from("é€😀x\n").toJSON().data;
    const piece = record({
      stream: constantFrom("stdout" as const, "stderr" as const),
      take: integer({ min: 1, max: 7 }),
    });
    await assert(
      asyncProperty(array(piece, { maxLength: 25 }), async (pieces) => {
        const story = new TestStory({ keptBytes: 40, readableBytes: 1_000_000, files });
        story.open();
        const at = { stdout: 0, stderr: 0 };
        pieces.forEach(({ stream, take }, index) => {
          const data = Array.from({ length: take }, () => bytes[at[stream]++ % bytes.length] ?? 0);
          story.appendOutput(stream, Buffer.from(data), index, 0);
          if (take === 7) story.appendEvent({ type: `event ${index}` });
        });
        story.finish();
        const whole = await read(story);
        for (const [index, { place }] of whole.entries()) {
          expect(await read(story, place)).toEqual(whole.slice(index + 1));
        }
        story.printed.close();
      }),
      { numRuns: 60 },
    );
  });

  test("can be heard as it happens, and read on from where it was at any moment", async () => {
    const bytes = Buffer.from("é€😀x\n").toJSON().data;
    const piece = record({
      stream: constantFrom("stdout" as const, "stderr" as const),
      take: integer({ min: 1, max: 7 }),
    });
    await assert(
      asyncProperty(array(piece, { maxLength: 15 }), async (pieces) => {
        const story = new TestStory({ keptBytes: 40, readableBytes: 1_000_000, files });
        expect(story.place).toBeUndefined();
        story.open();
        const at = { stdout: 0, stderr: 0 };
        const decoders = { stdout: new StringDecoder("utf8"), stderr: new StringDecoder("utf8") };
        const heard = { stdout: "", stderr: "" };
        const moments = [{ ...heard, place: story.place }];
        pieces.forEach(({ stream, take }, index) => {
          const data = Buffer.from(Array.from({ length: take }, () => bytes[at[stream]++ % bytes.length] ?? 0));
          story.appendOutput(stream, data, index, 0);
          heard[stream] += decoders[stream].write(data);
          if (take === 7) story.appendEvent({ type: `event ${index}` });
          moments.push({ ...heard, place: story.place });
        });
        story.finish();
        expect(story.place).toBe("end");
        const whole = toTexts(await read(story));
        for (const { stdout, stderr, place } of moments) {
          const rest = toTexts(await read(story, place));
          expect({ stdout: stdout + rest.stdout, stderr: stderr + rest.stderr }).toEqual(whole);
        }
        story.printed.close();
      }),
      { numRuns: 60 },
    );
  });

  const toTexts = (told: readonly { readonly event: Event }[]): { stdout: string; stderr: string } => {
    const texts = { stdout: "", stderr: "" };
    for (const { event } of told) if (event.stream !== undefined) texts[event.stream] += event.text ?? "";
    return texts;
  };

  test("refuses what is no place, and ends where one is beyond everything", async () => {
    const story = tell([{ stream: "stdout", text: "abc" }], 100);
    for (const after of ["", "x", "1", "-1.0", "0.0.zz.", "1e3.0", "0.0.00000000."]) {
      expect(() => story.follow({ after })).toThrow(RangeError);
    }
    expect((await read(story, "999999999.0")).map(({ event }) => event.type)).toEqual(["end"]);
    expect((await read(story, "0.999999999999999")).map(({ event }) => event.type)).toEqual(["end"]);
    expect(await read(story, "end")).toEqual([]);
    story.printed.close();
  });

  test("stops when its signal is aborted, though nothing happens", async () => {
    const story = new TestStory({ keptBytes: 40, readableBytes: 100, files });
    story.open();
    const controller = new AbortController();
    const reader = story.follow({ signal: controller.signal });
    expect(await reader.next()).toMatchObject({ value: { event: { type: "start" } } });
    const next = reader.next();
    controller.abort();
    expect(await next).toEqual({ value: undefined, done: true });
    story.finish();
    story.printed.close();
  });
});
