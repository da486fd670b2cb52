// The file of an exported run whose record somebody else wrote.

import { expect, test } from "vitest";
import { exportRun } from "../../../web/src/state/runs/export/export-run.ts";
import type { RecordedEvent, RunSource } from "../../../web/src/state/runs/run-source.ts";

const ATTACK = "</script><script>alert(1)</script><!-- \u2028 <!--run-data--> ]]>";

const VIEWER = "<body><!--run-data--><p>viewer</p></body>";

const hashOf = (digit: string): string => digit.repeat(64);

async function exported(
  events: readonly Omit<RecordedEvent, "seq">[],
  blobs: Readonly<Record<string, string>>,
): Promise<string> {
  const numbered = events.map((event, at) => ({ ...event, seq: at + 1 }) as RecordedEvent);
  const source = {
    runId: "r-1",
    outline: async () => ({ runId: "r-1", seq: numbered.length, query: ATTACK, nodes: [], spans: [], marks: [] }),
    events: async ({ after }: { readonly after: number }) => numbered.filter(({ seq }) => seq > after),
    blob: async (hash: string) => {
      const text = blobs[hash];
      if (text === undefined) throw new Error("there is none");
      return text;
    },
  } as unknown as RunSource;
  const file = await exportRun(VIEWER, source, { signal: new AbortController().signal, onProgress: () => {} });
  return file.text();
}

const reply = (hash: string, bytes: unknown): Omit<RecordedEvent, "seq"> => ({
  type: "model-call-end",
  text: { $blob: hash, bytes, head: "head" },
});

test("no text ends the element that it is in, or begins another", async () => {
  const html = await exported([{ type: ATTACK, [ATTACK]: ATTACK }, reply(hashOf("a"), 10)], { [hashOf("a")]: ATTACK });
  expect(html.match(/<script/g)).toHaveLength(3);
  expect(html.match(/<\/script>/g)).toHaveLength(3);
  expect(html).not.toMatch(/<!--|\u2028/);
  const [, events = ""] = /data-kind="run-events"[^>]*>(.*?)<\/script>/.exec(html) ?? [];
  expect(JSON.parse(events)).toMatchObject([{ type: ATTACK, [ATTACK]: ATTACK }, {}]);
});

test("texts that are missing or damaged are left out, and the rest is there", async () => {
  const html = await exported([reply(hashOf("a"), 10), reply(hashOf("b"), 10), reply(`"><b>`, 10)], {
    [hashOf("b")]: "here",
  });
  expect(html).toContain(`data-hash="${hashOf("b")}">"here"`);
  expect(html).toContain("2 long texts");
  expect(html).not.toContain("<b>");
});

test("texts that are larger than their references say do not make the file larger than it may be", async () => {
  const large = "x".repeat(3_000_000);
  const sizes = [1, -1e12, Number.NaN, null, "1"];
  const html = await exported(
    [...sizes.map((size, at) => reply(hashOf(String(at)), size)), reply(hashOf("f"), 4)],
    Object.fromEntries([...sizes.map((_, at) => [hashOf(String(at)), large]), [hashOf("f"), "fits"]]),
  );
  expect(html.length).toBeLessThan(100_000);
  expect(html).toContain(`"fits"`);
  expect(html).toContain("5 long texts");
});
