// A recorded run whose every word was written by somebody who wants to mislead the reader, or to make the page slow.

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { hasBrowser } from "../harness/browser.ts";
import { useStage } from "../harness/stage.ts";

const ID = "r-hostile";
const EVIL = "invoice\u202Efdp\u200B.exe\u001B[31m";
const HIDDEN = String.raw`/[\u0000-\u0008\u001b\u200b\u202a-\u202e\u2066-\u2069]/`;
/** Where a reader could see or hear such a character. */
const FOUND = `[...document.querySelectorAll("body *")].flatMap((element) => [
  ...[...element.childNodes].filter(({ nodeType, data }) => nodeType === 3 && ${HIDDEN}.test(data)).map(() => element.outerHTML.slice(0, 200)),
  ...["title", "aria-label", "alt"].filter((name) => ${HIDDEN}.test(element.getAttribute(name) ?? "")).map((name) => name + " of " + element.className),
])`;

async function writeHostileRun(dataFolder: string): Promise<void> {
  const folder = join(dataFolder, "runs", ID);
  mkdirSync(join(folder, "blobs"), { recursive: true });
  const about = { query: EVIL, model: EVIL, subModel: EVIL };
  const meta = { ...about, id: ID, started: 1, ended: 99, status: "final", stopReason: "answered", usage: null };
  writeFileSync(
    join(folder, "meta.json"),
    JSON.stringify({ ...meta, wallMs: 98, bytes: 1, lostEvents: 0, writer: null }),
  );
  const call = { nodeId: EVIL, step: 1, callId: "c1" };
  const same = { nodeId: EVIL, step: 1, callId: "c2" };
  const events = [
    { type: "run-start", ...about, limits: {}, maxDepth: 1 },
    {
      type: "node-start",
      nodeId: EVIL,
      parentId: null,
      depth: 0,
      ...about,
      context: [{ name: EVIL, kind: EVIL, bytes: 1 }],
    },
    { type: "step-start", nodeId: EVIL, step: 1 },
    { type: "model-call-start", ...call, model: EVIL, purpose: "step", messages: [{ role: EVIL, content: EVIL }] },
    { type: "model-call-wait", ...call, delayMs: 5, fault: EVIL, error: EVIL },
    { type: "model-call-end", ...call, ok: true, text: EVIL, reasoning: EVIL, usage: {} },
    { type: "code-start", nodeId: EVIL, step: 1, code: EVIL },
    {
      type: "code-end",
      nodeId: EVIL,
      step: 1,
      result: { status: "error", stdout: EVIL, stderr: "", error: { name: EVIL, value: EVIL, traceback: EVIL } },
    },
    { type: "model-call-start", ...same, model: "m", purpose: "query", messages: [{ $same: "c2", count: 9 }] },
    { type: "model-call-end", ...same, ok: true, text: "itself", usage: {} },
    { type: "node-end", nodeId: EVIL, status: "final", stopReason: "answered", answer: EVIL },
    { type: "run-end", result: { why: EVIL } },
  ];
  const lines = events.map((event, at) => `${JSON.stringify({ seq: at + 1, time: at + 1, runId: ID, ...event })}\n`);
  writeFileSync(join(folder, "events.jsonl"), lines.join(""));
}

describe.skipIf(!hasBrowser)("a hostile record", { tags: "stress" }, () => {
  const on = useStage({ prepare: writeHostileRun });

  test("hides nothing: marks that reorder text, and control characters, are shown as escapes", async () => {
    const { page } = await on.stage.open(`#/runs/${ID}`);
    const grid = page.getByRole("treegrid");
    await grid
      .getByText(String.raw`invoice\u202efdp\u200b.exe`)
      .first()
      .waitFor();
    expect(await page.evaluate(FOUND)).toEqual([]);
    for (const name of [/^node/, /^step/, /^model/, /^code/]) {
      await grid.getByRole("row", { name }).first().click();
      await page.getByRole("heading", { level: 2, name }).waitFor();
      expect(await page.evaluate(FOUND)).toEqual([]);
    }
    await page.getByRole("tab", { name: "Usage" }).click();
    await page.getByRole("table", { name: "By model" }).waitFor();
    await page.keyboard.press("/");
    await page.keyboard.type("invoice");
    await page.getByRole("region", { name: "Search results" }).getByRole("listitem").first().waitFor();
    expect(await page.evaluate(FOUND)).toEqual([]);
  });

  test("of a call that begins with its own messages is shown without them", async () => {
    const { page } = await on.stage.open(`#/runs/${ID}`);
    await page
      .getByRole("treegrid")
      .getByRole("row", { name: /^query/ })
      .click();
    await page.getByRole("button", { name: "Show the 9 earlier messages" }).click();
    await page.getByText("The earlier messages are not recorded").waitFor();
  });
});
