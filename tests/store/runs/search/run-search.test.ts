import { appendFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { RunEvent } from "../../../../src/protocol/run-events.ts";
import type { RunMatch } from "../../../../src/protocol/run-outline/run-outline.ts";
import { IndexedRuns } from "../../../../src/store/runs/indexed/indexed-runs.ts";
import { searchRun, type RunSearchRequest } from "../../../../src/store/runs/search/run-search.ts";
import { TextPattern } from "../../../../src/store/runs/search/text-pattern.ts";
import { writeLongLog } from "../indexed/long-log.ts";
import {
  callEnd,
  callStart,
  codeEnd,
  nodeEnd,
  nodeStart,
  numberer,
  openRuns,
  record,
  runEnd,
  runStart,
  smallRun,
  toRunId,
  type Bare,
  type TestRuns,
} from "../recorded-run.ts";

const ID = toRunId("r-0123456789abcdef");
const LONG = "lorem ipsum ".repeat(1000);

async function open(runs: TestRuns, events: readonly RunEvent[]) {
  await record(events, ID, runs);
  const run = await new IndexedRuns().open(ID, runs);
  return (text: string, request: RunSearchRequest = {}) => searchRun(run, text, { budgetMs: 60_000, ...request });
}

function numbered(...bare: readonly Bare[]): readonly RunEvent[] {
  return bare.map(numberer(ID));
}

/** As `seq field stream step callId before[text]after`. */
function brief({ seq, field, stream, step, callId, before, text, after }: RunMatch): string {
  return [seq, field, stream, step, callId, `${before.slice(-5).trimStart()}[${text}]${after.slice(0, 5)}`]
    .filter((part) => part !== undefined && part !== null)
    .join(" ");
}

test("a text is found wherever it is, once in each text", async () => {
  using runs = openRuns();
  const messages = [{ role: "system", content: "a Duck? Duck!" }];
  const search = await open(
    runs,
    numbered(
      runStart("the duck"),
      nodeStart("n0", null, "the duck"),
      { type: "step-start", nodeId: "n0", step: 1 },
      callStart({ nodeId: "n0", callId: "c1", messages }),
      {
        type: "model-call-wait",
        nodeId: "n0",
        callId: "c1",
        fault: "server",
        delayMs: 1,
        attempts: 1,
        error: "no duck",
      },
      callEnd({ nodeId: "n0", callId: "c1", text: "see duck", reasoning: "think duck" }),
      { type: "code-start", nodeId: "n0", step: 1, code: "duck = 1" },
      { type: "tool-call-start", nodeId: "n0", callId: "t1", tool: "look", args: { a: [1, { bird: "duck" }] } },
      { type: "tool-call-end", nodeId: "n0", callId: "t1", ok: true, result: { duck: true }, durationMs: 1 },
      codeEnd("n0", 1, "out duck"),
      { type: "step-end", nodeId: "n0", step: 1, observation: "saw duck" },
      nodeEnd("n0", "a duck"),
      runEnd(ID, { answer: "a duck", why: "duck limit" }),
    ),
  );
  const { matches, next } = await search("DUCK");
  expect(next).toBeNull();
  expect(matches.map(brief)).toEqual([
    "2 query the [duck]",
    "4 prompt 1 c1 a [Duck]? Duc",
    "5 error 1 c1 no [duck]",
    "6 reasoning 1 c1 hink [duck]",
    "6 reply 1 c1 see [duck]",
    "7 code 1 [duck] = 1",
    "8 tool 1 t1 [duck]",
    "9 tool 1 t1 [duck]",
    "10 output stdout 1 out [duck]",
    "11 observation 1 saw [duck]",
    "12 answer a [duck]",
    "13 error [duck] limi",
  ]);
  expect(matches.map(({ nodeId }) => nodeId)).toEqual([...Array<string>(11).fill("n0"), null]);
  expect(await search("type")).toEqual({ matches: [], next: null }); // of the format
});

test("the messages of a conversation are searched once", async () => {
  using runs = openRuns();
  const first = { role: "user", content: "find the heron" };
  const search = await open(
    runs,
    numbered(
      runStart(),
      nodeStart("n0", null),
      { type: "step-start", nodeId: "n0", step: 1 },
      callStart({ nodeId: "n0", callId: "c1", messages: [first] }),
      callEnd({ nodeId: "n0", callId: "c1", text: "a heron here" }),
      { type: "step-end", nodeId: "n0", step: 1, observation: "no heron" },
      { type: "step-start", nodeId: "n0", step: 2 },
      callStart({
        nodeId: "n0",
        callId: "c2",
        step: 2,
        messages: [first, { role: "assistant", content: "a heron here" }, { role: "user", content: "no heron" }],
      }),
      callStart({
        nodeId: "n0",
        callId: "c3",
        step: 2,
        purpose: "extract",
        messages: [first, { role: "assistant", content: "a heron here" }, { role: "user", content: "heron now!" }],
      }),
    ),
  );
  expect((await search("heron")).matches.map(brief)).toEqual([
    "4 prompt 1 c1 the [heron]",
    "5 reply 1 c1 a [heron] here",
    "6 observation 1 no [heron]",
    "9 prompt 2 c3 [heron] now!",
  ]);
});

describe("long texts", () => {
  test("are searched in their blobs, to the end", async () => {
    using runs = openRuns();
    const data = { list: Array.from({ length: 2000 }, (_, at) => `item ${at}`), text: `${LONG}deep Kingfisher` };
    const search = await open(
      runs,
      numbered(
        runStart(),
        nodeStart("n0", null, `${LONG}Kingfisher`),
        codeEnd("n0", 1, `${LONG}Kingfisher ${LONG}`),
        { type: "tool-call-end", nodeId: "n0", callId: "t1", ok: true, result: data, durationMs: 1 },
        callEnd({ nodeId: "n0", callId: "c1", text: `${LONG}Kingfisher \uD800` }),
        callEnd({ nodeId: "n0", callId: "c2", text: LONG }),
      ),
    );
    expect(readdirSync(join(runs.folder, ID, "blobs")).length).toBeGreaterThan(4);
    expect((await search("kingFISHER")).matches.map(brief)).toEqual([
      "2 query psum [Kingfisher]",
      "3 output stdout 1 psum [Kingfisher] lore",
      "4 tool t1 deep [Kingfisher]",
      "5 reply c1 psum [Kingfisher] ",
    ]);
    expect((await search("item 1999")).matches.map(brief)).toEqual(["4 tool t1 [item 1999]"]);
  });

  test("are searched across the pieces in which they are read", async () => {
    const sizes = [255, 256, 257, 512].map((kib) => kib * 1024);
    for (const size of sizes) {
      for (const shift of [-10, -5, -1, 0, 1, 90]) {
        using runs = openRuns();
        const text = `${"ä".repeat((size + shift) / 2)}needle-in-the-middle${"ö".repeat(100)}`;
        const search = await open(runs, numbered(runStart(), codeEnd("n0", 1, text)));
        const [match] = (await search("NEEDLE-in-the-MIDDLE")).matches;
        expect(match).toMatchObject({
          before: "ä".repeat(80),
          text: "needle-in-the-middle",
          after: "ö".repeat(80),
        });
      }
    }
  });

  test("that are missing or no files are left out", async () => {
    using runs = openRuns();
    const search = await open(runs, numbered(runStart(), codeEnd("n0", 1, "short kite")));
    const lines = ["0".repeat(64), "../../meta.json", "", 1].map((digest, at) =>
      JSON.stringify({
        ...numbered(codeEnd("n0", 1))[0],
        seq: 10 + at,
        result: { stdout: { $blob: digest, bytes: 1, head: "kite" } },
      }),
    );
    appendFileSync(join(runs.folder, ID, "events.jsonl"), `${lines.join("\n")}\n`);
    expect((await search("kite")).matches.map(({ seq }) => seq)).toEqual([2]);
  });
});

describe("letters", () => {
  test.each([
    ["ÄPFEL", "äpfel"],
    ["straße", "STRAßE"],
    ["ΣΊΣΥΦΟΣ", "σίσυφος"],
    ["\u212Aelvin", "kelvin"],
    ["𐐀", "𐐨"],
    ["привет", "ПРИВЕТ"],
    ["🦆", "🦆"],
  ])("of '%s' are those of '%s'", (one, other) => {
    for (const [needle, text] of [
      [one, other],
      [other, one],
    ] as const)
      expect(new TextPattern(needle).findIn(`..${text}..`)).toEqual({ index: 2, before: "..", text, after: ".." });
  });

  test("are not patterns", () => {
    for (const needle of ["a.c", "[x]", "^$", "a|b", "(", "\\", "\\d", "/", "{2}", "*", "?", "-"]) {
      expect(new TextPattern(needle).findIn(`<${needle}>`)?.text).toBe(needle);
      expect(new TextPattern(needle).findIn("abc 1")).toBeUndefined();
    }
  });

  test("are not cut in half", () => {
    const found = new TextPattern("x").findIn(`🦆${"🦆".repeat(60)}axb${"🦆".repeat(60)}`);
    expect([found?.before, found?.after]).toEqual([`${"🦆".repeat(39)}a`, `b${"🦆".repeat(39)}`]);
  });
});

test("what is found is what is there, whatever it is", async () => {
  using runs = openRuns();
  const text = fc.string({ unit: "grapheme", minLength: 1, maxLength: 8 });
  let number = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(text, { minLength: 1, maxLength: 6 }), text, async (outputs, needle) => {
      number += 1;
      const id = toRunId(`r-${number}`);
      await record(numbered(...outputs.map((output) => codeEnd("n0", 1, output))), id, runs);
      const { matches } = await searchRun(await new IndexedRuns().open(id, runs), needle, { budgetMs: 60_000 });
      const expected = outputs.flatMap((output, at) => (new TextPattern(needle).findIn(output) ? [at + 1] : []));
      expect(matches.map(({ seq }) => seq)).toEqual(expected);
    }),
    { numRuns: 40 },
  );
});

describe("a search in parts", () => {
  test("finds the same, by number of matches and by time", async () => {
    using runs = openRuns();
    const id = toRunId("r-long");
    writeLongLog(runs.folder, id, { nodes: 60, bytes: 100_000 });
    const run = await new IndexedRuns().open(id, runs);
    const all = await searchRun(run, "reply", { budgetMs: 60_000, limit: 1000 });
    expect(all.matches).toHaveLength(60 * 4);
    for (const request of [{ limit: 7, budgetMs: 60_000 }, { budgetMs: 0 }]) {
      const matches: RunMatch[] = [];
      let after: number | null = 0;
      let parts = 0;
      while (after !== null) {
        const answer = await searchRun(run, "reply", { ...request, after });
        matches.push(...answer.matches);
        after = answer.next;
        parts += 1;
      }
      expect(matches).toEqual(all.matches);
      expect(parts).toBeGreaterThan(30);
    }
  });

  test("ends when its signal is aborted", async () => {
    using runs = openRuns();
    const search = await open(runs, smallRun(ID));
    const reason = new Error("enough");
    await expect(search("x", { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  });

  test("passes over damaged lines", async () => {
    using runs = openRuns();
    await record(smallRun(ID), ID, runs);
    const path = join(runs.folder, ID, "events.jsonl");
    const wrong = ["hundred", "null", '{"type":"code-start","seq":99,"code":"hundred"}', `"${"x".repeat(17_000_000)}"`];
    const late = { ...numbered(codeEnd("n0", 1, "late hundred"))[0], seq: 100 };
    const odd = {
      ...numbered(callStart({ nodeId: "n0", callId: "c9" }))[0],
      seq: 101,
      messages: ["hundred", { content: { hundred: 1 } }, null, [[["hundred"]]]],
    };
    writeFileSync(path, `${wrong.join("\n")}\n${JSON.stringify(late)}\n${JSON.stringify(odd)}\n`, { flag: "a" });
    const run = await new IndexedRuns().open(ID, runs);
    const { matches } = await searchRun(run, "hundred", { budgetMs: 60_000 });
    expect(matches.map(({ seq, field }) => [seq, field])).toEqual([
      [10, "reply"],
      [100, "output"],
      [101, "prompt"],
    ]);
  });
});
