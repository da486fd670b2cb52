// Accounts for every code block of the documents: by its language, and by the comment before it. See blocks.ts.

/** @module-tag stress */

import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { parse as parseTOML } from "smol-toml";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { configSchema } from "../../src/config/schema.ts";
import type { LocalRuntime } from "../../src/api/local.ts";
import { strategyChanges } from "../../src/protocol/strategy/strategy.ts";
import { openRuntime } from "../../src/sdk/runtime.ts";
import { PYTHON } from "../open.ts";
import { nameOf, readBlocks, type Block } from "./blocks.ts";
import { checkConfiguration } from "./configurations.ts";
import { parseSteps, runSteps } from "./console.ts";
import { isGenerated, PAGES } from "./pages.ts";
import { problemsOf, synopsisProblems } from "./shell-commands.ts";
import { runTypeScript, typeProblems } from "./snippets.ts";

const blocks = PAGES.filter((page) => !isGenerated(page)).flatMap(readBlocks);
const named = blocks.map((block): [string, Block] => [nameOf(block), block]);

describe("every page", () => {
  const marked = PAGES.flatMap(readBlocks);

  test.each(
    marked.filter(({ example }) => example !== undefined).map((block): [string, Block] => [nameOf(block), block]),
  )("%s shows its example as it is", (_, { example = "", text }) => {
    expect(text).toBe(readFileSync(example, "utf8"));
  });

  test("names files that exist", () => {
    const files = marked.flatMap(({ example, output }) => [example, output].filter((file) => file));
    expect(files.filter((file) => file !== undefined && !existsSync(file))).toEqual([]);
  });
});

/** The languages in which a block is run, unless it is an example or cannot be. */
const RUN = new Set(["ts", "js", "python", "py", "console"]);
/** What prints the block that is marked as output, if it is not a file. */
const outputOf = new Map(
  blocks.flatMap((block, index): [Block, Block][] => {
    const before = blocks[index - 1];
    return block.output === "" && before !== undefined ? [[before, block]] : [];
  }),
);

const typeScript = blocks.filter(({ language, example }) => language === "ts" && example === undefined);
let types = new Map<string, string>();
let runtime: LocalRuntime;
beforeAll(async () => {
  types = typeProblems(typeScript);
  runtime = await openRuntime({ python: PYTHON, preload: [], poolSize: 1 });
});
afterAll(() => runtime.close());

test("the compiler works", () => {
  expect(types.get("the compiler")).toBeUndefined();
});

/** Checks a block without running it. Absent: a language that nobody checks. */
const CHECKS: Readonly<Record<string, (block: Block) => void>> = {
  text: ({ text, output }) => {
    if (output !== undefined) return;
    const synopses = text.split("\n").filter((line) => /^rlm [a-z[]/.test(line));
    expect(synopses.flatMap(synopsisProblems)).toEqual([]);
  },
  sh: ({ text }) => expect(problemsOf(text)).toEqual([]),
  console: ({ text }) => {
    const script = parseSteps(text).map(({ command }) => command);
    expect(problemsOf(script.join("\n"))).toEqual([]);
  },
  json: ({ text }) => void JSON.parse(text),
  toml: ({ text, notRun }) => {
    const value = parseTOML(text);
    if (notRun === undefined) configSchema.parse(value);
    if (notRun === "a strategy") strategyChanges.parse(value);
  },
  ts: (block) => expect(types.get(nameOf(block))).toBeUndefined(),
  js: () => {},
  python: checkPython,
  py: checkPython,
  ini: checkConfiguration,
  nginx: checkConfiguration,
  dockerfile: checkConfiguration,
  yaml: checkConfiguration,
};

function checkPython({ text }: Block): void {
  const { stderr } = spawnSync(PYTHON, ["-c", "import ast, sys; ast.parse(sys.stdin.read())"], {
    input: text,
    encoding: "utf8",
  });
  expect(stderr).toBe("");
}

describe.each(named)("%s", (_, block) => {
  test("is checked", () => {
    const check = CHECKS[block.language];
    if (check === undefined)
      throw new Error(`No test knows the language '${block.language}': add it to ${import.meta.url}`);
    check(block);
  });

  const { language, example, notRun } = block;
  if (!RUN.has(language) || example !== undefined || notRun !== undefined) return;

  test("runs", async ({ skip }) => {
    if (block.needs !== undefined && !hasInstalled(block.needs, language))
      return skip(`${block.needs} is not installed`);
    if (language === "console") return runConsole(block);
    const printed = language === "ts" || language === "js" ? await runTypeScript(block) : await runPython(block);
    const said = outputOf.get(block);
    if (said !== undefined) expect(printed).toBe(said.text);
  });
});

function hasInstalled(name: string, language: string): boolean {
  const [command, ...args] = language === "console" ? ["which", name] : [PYTHON, "-c", `import ${name}`];
  return spawnSync(command ?? "", args).status === 0;
}

async function runConsole({ text, setup }: Block): Promise<void> {
  for (const { command, expected, printed } of await runSteps(parseSteps(text), setup))
    expect(printed, `$ ${command}`).toBe(expected);
}

async function runPython({ text, setup }: Block): Promise<string> {
  const { stdout, text: value, status, error } = await runtime.execute(`${setup}\n${text}`);
  expect({ status, traceback: error?.traceback }).toEqual({ status: "ok", traceback: undefined });
  return value === undefined ? stdout : `${stdout}${value}\n`;
}
