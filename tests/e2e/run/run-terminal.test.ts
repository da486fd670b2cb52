/* oxlint-disable no-control-regex -- control characters are what a terminal is about */

/** @module-tag stress */

import { mkdirSync, readdirSync } from "node:fs";
import { expect, test } from "vitest";
import { Folder } from "../../config/folder.ts";
import { makeDataFolder } from "../../make-data-folder.ts";
import { KEYS, TestTerminal } from "../terminal.ts";

function run(folder: Folder, args: readonly string[], columns = 80): TestTerminal {
  const env = {
    HOME: folder.path,
    TMPDIR: folder.at("tmp"),
    RLM_DATA: makeDataFolder(folder.at("data")),
    NO_COLOR: "1",
  };
  mkdirSync(folder.at("tmp"), { recursive: true });
  return new TestTerminal(["run", ...args], { env, columns });
}

test.each([80, 60])("on a terminal of %i columns a tree is redrawn in place, and the id is whole", async (columns) => {
  using folder = new Folder();
  await using terminal = run(folder, ["--demo"], columns);
  expect(await terminal.ended).toBe(0);
  const rows = terminal.screen.split("\n");
  const [id = ""] = readdirSync(folder.at("data/runs"));
  const shown = rows.map((row) => row.replace(id, "ID").replaceAll(/\d[\d.,]*k?/g, "#"));
  expect(shown.slice(0, 3)).toEqual([
    "context: the log of a harbour, # KiB",
    expect.stringMatching(/^✓ n# done · step # · # tokens · \$# · # s( {2}Which|$)/),
    expect.stringMatching(/^ {2}✓ n# done · step # · # tokens · \$# · # s/),
  ]);
  expect(shown.slice(3, -2).join(" · ")).toBe(
    "final · # nodes · # calls · # tokens · $# · root $# · nodes below $# · llm_query $# · # s · run ID",
  );
  expect(shown.slice(-2)).toEqual(["in a browser: rlm visualize ID", "Brigid: # lanterns; Corvus: # lanterns"]);
  for (const row of rows) expect(row.length).toBeLessThan(columns);
  expect(terminal.raw).toMatch(/n0 \d of \d answered/);
  expect(terminal.raw).toMatch(/\u001B\[\d+A\u001B\[J/);
});

test("Ctrl-C on the terminal cancels, and leaves the last tree", async () => {
  using folder = new Folder();
  folder.write("script.json", JSON.stringify({ rules: [{ reply: { text: "late", delayMs: 600_000 } }] }));
  await using terminal = run(folder, [
    "Why?",
    "--backend",
    "scripted",
    "--model",
    folder.at("script.json"),
    "--mode",
    "rlm",
  ]);
  await terminal.until(/n0 thinks · step 1/);
  terminal.type(KEYS.ctrlC);
  expect(await terminal.ended).toBe(130);
  expect(terminal.screen).toMatch(/✗ n0 cancelled · step 1 .*\ncancelled · 1 node/);
});

test("Ctrl-C while the context is typed ends the command, and removes the saved input", async () => {
  using folder = new Folder();
  await using terminal = run(folder, ["Why?", "--backend", "scripted", "--model", "x", "--context", "-"]);
  await terminal.until(/reading the context from the terminal: Ctrl-D ends it/);
  terminal.type(`secret${KEYS.enter}`);
  terminal.type(KEYS.ctrlC);
  expect(await terminal.ended).toBe(130);
  expect(readdirSync(folder.at("tmp")).filter((name) => name.startsWith("rlm-run-"))).toEqual([]);
});
