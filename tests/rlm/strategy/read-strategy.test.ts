import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { checkStrategy, readStrategy } from "../../../src/rlm/strategy/read-strategy.ts";

const folder = mkdtempSync(join(tmpdir(), "strategy-"));
afterAll(() => rmSync(folder, { recursive: true }));

function file(name: string, content: string): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

describe("readStrategy()", () => {
  test("reads TOML and JSON, and knows the shipped ones by name", () => {
    const toml = 'extends = "small"\n[prompts]\nhowToWork = """\nSlowly."""\n[prompts.functions]\ngrep = "grep(...)"\n';
    const expected = { extends: "small", prompts: { howToWork: "Slowly.", functions: { grep: "grep(...)" } } };
    expect(readStrategy(file("own.toml", toml))).toEqual(expected);
    expect(readStrategy(file("own.json", JSON.stringify(expected)))).toEqual(expected);
    expect(readStrategy("local")).toEqual({ extends: "local" });
  });

  test.each([
    ["[guards]\nemptyReplys = 3\n", 2, "there is no 'guards.emptyReplys'; did you mean emptyReplies?"],
    ['extends = "smal"\n', 1, `'extends' must be "frontier" or "small" or "local"; did you mean "small"?`],
    ["\n[observations]\ncharacters = 12\n", 3, "'observations.characters' must be at least 200"],
    ['[calls]\nstepTokens = "many"\n', 2, "'calls.stepTokens' must be a number, and is a text"],
    ['[prompts]\nfirstMessage = "{query}"\n', 2, "'prompts.firstMessage' must have the placeholder {material}"],
    ['helpers = ["grep", "sed"]\n', 1, "'helpers.1' must be"],
    ["extends = \n", 1, "it is not TOML"],
  ])("names the line and the key of what is wrong in %j", (content, line, why) => {
    const path = file("wrong.toml", content);
    const refuse = expect.objectContaining({ code: "CONFIGURATION", source: path, line }) as Error;
    expect(() => readStrategy(path)).toThrow(refuse);
    expect(() => readStrategy(path)).toThrow(why);
  });

  test("says what a name may be", () => {
    expect(() => readStrategy("smal")).toThrow("did you mean 'small'?");
    expect(() => readStrategy("constructor")).toThrow("the shipped ones are frontier, small, local");
    expect(() => readStrategy(join(folder, "none.toml"))).toThrow("there is no such file");
    expect(() => readStrategy(file("broken.json", "{"))).toThrow("it is not JSON");
    expect(() => readStrategy(file("odd.json", "[]"))).toThrow("must be a table");
  });

  test("refuses what would be read without an end, which a project may name", () => {
    symlinkSync("/dev/zero", join(folder, "zero.toml"));
    execFileSync("mkfifo", [join(folder, "pipe.toml")]);
    for (const name of ["zero.toml", "pipe.toml"])
      expect(() => readStrategy(join(folder, name))).toThrow("it is not a file");
    expect(() => readStrategy(file("large.toml", "#".repeat(1024 * 1024 + 1)))).toThrow(
      "it has more than 1048576 bytes",
    );
  });
});

test("checkStrategy() names the key of what is wrong in a value", () => {
  expect(() => checkStrategy({ call: {} })).toThrow("there is no 'call'; did you mean calls?");
  expect(() => checkStrategy({ prompts: { system: 3 } })).toThrow("'prompts.system' must be a text");
  expect(() => checkStrategy(null)).toThrow(TypeError);
});
