// The checks of this folder find what they look for.

import { expect, test } from "vitest";
import { parseBlocks } from "./blocks.ts";
import { parseSteps, runSteps, toPattern } from "./console.ts";
import { commandsOf, problemsOf, synopsisProblems } from "./shell-commands.ts";

test("a block has its language, its line and its markers", () => {
  const page = [
    "<!-- setup:",
    "x = 1",
    "-->",
    "<!-- not run: it needs a key -->",
    "",
    "```python",
    "x + 1",
    "```",
    "- in a list",
    "  ```",
    "  <!-- output -->",
    "  ```",
  ];
  const none = { example: undefined, output: undefined, notRun: undefined, setup: "", needs: undefined };
  expect(parseBlocks("a.md", page.join("\n"))).toEqual([
    { ...none, page: "a.md", line: 6, language: "python", text: "x + 1\n", notRun: "it needs a key", setup: "x = 1" },
    { ...none, page: "a.md", line: 10, language: "text", text: "<!-- output -->\n" },
  ]);
});

test("a marker belongs to the block right after it", () => {
  expect(parseBlocks("a.md", "<!-- output -->\nText.\n```\nx\n```")[0]?.output).toBeUndefined();
});

test("commands of ours are found wherever a script has them", () => {
  const script = `
    rlm exec -c 'print("a b")' > out.txt   # a comment
    id=$(sudo -n rlm sessions open) && rlm sessions close "$id"
    cat log | npx -y rlm-runtime run "Why?" --context -
    claude mcp add rlm -- npx -y rlm-runtime mcp-serve
    npm install -g rlm-runtime; rm -rf ./nothing`;
  const found = commandsOf(script).map((words) => words.join(" "));
  expect(found.toSorted((a, b) => (a < b ? -1 : 1))).toEqual([
    'exec -c print("a b")',
    "mcp-serve",
    "run Why? --context -",
    "sessions close word",
    "sessions open",
  ]);
});

test.each([
  ["rlm exec -c 1", []],
  ["rlm --version", []],
  ["rlm exce -c 1", [expect.stringContaining("unknown command 'exce'")]],
  ["rlm serve --prot 1", [expect.stringContaining("unknown option '--prot'")]],
  ["rlm serve --port many", [expect.stringContaining("--port")]],
  ["rlm exec -c 'print(1)", [expect.stringContaining("bash cannot read it")]],
])("a script is checked: %s", (script, problems) => {
  expect(problemsOf(script)).toEqual(problems);
});

test.each([
  ["rlm logs show ID [--full] [--follow] [--json]", []],
  ["rlm exec [options] (-c CODE | FILE | -) [--] [ARGUMENT...]", []],
  ["rlm logs show ID [--whole]", ["show has no option --whole"]],
  ["rlm lgos show", ["rlm has no command 'lgos'"]],
])("a synopsis is checked: %s", (line, problems) => {
  expect(synopsisProblems(line)).toEqual(problems);
});

test("an ellipsis stands for anything in a line, or for any number of lines", () => {
  const pattern = toPattern("id …\n…\nend (1)\n");
  expect(pattern.test("id 7\nend (1)\n")).toBe(true);
  expect(pattern.test("id 7\none\ntwo\nend (1)\n")).toBe(true);
  expect(pattern.test("id 7\nend (2)\n")).toBe(false);
  expect(pattern.test("x\nid 7\nend (1)\n")).toBe(false);
});

test("commands of a console block share a shell, a project and a server", { tags: "stress" }, async () => {
  const text = [
    "$ mkdir data; cd data",
    "$ rlm exec -c 'print(1)' \\",
    ">   > one; cat one",
    "1",
    "$ rlm serve",
    "listening http://127.0.0.1:8000",
    "…",
    "$ rlm sessions",
    "no sessions are open",
    "$ rlm sessions exec nobody -c 1",
    "two",
  ];
  const results = await runSteps(parseSteps(text.join("\n")), "echo hidden");
  expect(results.map(({ expected, printed }) => expected === printed)).toEqual([true, true, true, true, false]);
});
