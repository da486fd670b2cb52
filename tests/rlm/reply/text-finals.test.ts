// FINAL(...) in plain text: values, expressions over variables, and prose.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Runtime } from "../../internals.ts";
import { openTestRuntime } from "../../open.ts";
import { code, scripted, watch, type Watched } from "../scripting.ts";

let runtime: Runtime;
beforeAll(async () => {
  runtime = await openTestRuntime({ poolSize: 1 });
});
afterAll(() => runtime.close());

const SETUP = code("result = {'city': 'Paris'}\ntotal = 1200\nx = 'y'\nname = 'Ada'\n_hidden = 3");

/** Replies with the text after a block that sets variables. */
const answer = (...texts: string[]): Promise<Watched> =>
  watch(scripted(runtime, [SETUP, ...texts, ...Array<string>(3).fill(code("FINAL('late')"))]));

describe("FINAL in plain text", () => {
  test.each([
    ['"Paris"', "Paris", "Paris"],
    ["'It''s'", "Its", "Its"],
    ['"""two\nlines )"""', "two\nlines )", "two\nlines )"],
    [String.raw`"a \"b\"\n"`, 'a "b"\n', 'a "b"\n'],
    ["42", "42", 42],
    ["3.10", "3.10", 3.1],
    ["-1_000", "-1_000", -1000],
    ["True", "True", true],
    ["[1, 'a']", "[1, 'a']".replaceAll("'", '"'), [1, "a"]],
    ["{'a': None}", '{"a": null}', { a: null }],
    ['{"found": true, "n": null}', '{"found": true, "n": null}', { found: true, n: null }],
    ["(1, 2)", "[1, 2]", [1, 2]],
  ])("takes the value %j", async (source, text, data) => {
    const { result, events } = await answer(`I am done.\n\nFINAL(${source})`);
    expect(result).toMatchObject({ status: "final", answer: text, data });
    expect(events.filter(({ type }) => type === "code-start")).toHaveLength(1);
  });

  test.each([
    ["result", '{"city": "Paris"}', { city: "Paris" }],
    ["result['city']", "Paris", "Paris"],
    ['f"{x}"', "y", "y"],
    ["str(total)", "1200", "1200"],
    ["total * 2", "2400", 2400],
    ["name, total", '["Ada", 1200]', ["Ada", 1200]],
    ["[n * total for n in range(2)]", "[0, 1200]", [0, 1200]],
    ["total  # the sum", "1200", 1200],
    ["_hidden", "3", 3],
    ["max(total, 1)", "1200", 1200],
  ])("evaluates %j as code", async (source, text, data) => {
    const { result, events } = await answer(`FINAL(${source})`);
    expect(result).toMatchObject({ status: "final", answer: text, data });
    const run = events.flatMap((event) => (event.type === "code-start" ? [event.code] : []));
    expect(run[1]).toMatch(/^FINAL\(/);
  });

  test.each([
    "The answer is Paris, since it is the capital",
    "Paris is the capital of France.",
    "It's 42 (really)",
    "1,234",
    "2024-10-12",
    "10/12",
    "12 * 4",
    "$5",
    "[1, 2, 3], (4, 5)",
    '"Paris" is the capital',
    "```json\n{}\n```",
  ])("takes %j as the text that it is", async (source) => {
    const { result } = await answer(`FINAL(${source})`);
    expect(result).toMatchObject({ status: "final", answer: source, data: source });
  });

  test.each([
    ["'It's Paris'", "It's Paris"],
    ['"one\ntwo"', "one\ntwo"],
    ["'one' or 'two'", "'one' or 'two'"],
  ])("takes %j without its quotes only where they enclose all of it", async (source, text) => {
    expect((await answer(`FINAL(${source})`)).result.answer).toBe(text);
  });

  test.each([
    ["Paris", "there is no variable 'Paris'"],
    ["Paris, France", "there are no variables 'France', 'Paris'"],
    ["N/A", "there are no variables 'A', 'N'"],
    ["not found", "there is no variable 'found'"],
    ["budget", "there is no variable 'budget'"],
    ["max", "there is no variable 'max'"],
    ["str(totals)", "there is no variable 'totals'"],
    ['f"{x"', "not valid Python"],
  ])("asks what %j means, and takes it as a text the second time", async (source, hint) => {
    const { result, observations } = await answer(`FINAL(${source})`, `FINAL(${source})`);
    expect(observations[1]).toContain(hint);
    expect(result).toMatchObject({ status: "final", answer: source });
    expect(observations).toHaveLength(3);
  });

  test("shows the error of an expression that fails", async () => {
    const { result, observations } = await answer("FINAL(result['country'])", "FINAL(answer=total)");
    expect(observations[1]).toContain("KeyError: 'country'");
    expect(observations[2]).toContain("unexpected keyword argument 'answer'");
    expect(result.answer).toBe("late");
  });

  test("cannot be used to run anything but one expression", async () => {
    for (const source of ["1) or print(2", "total), print(2", "yield 1", "import os"]) {
      const { events } = await answer(`FINAL(${source})`);
      const run = events.flatMap((event) => (event.type === "code-start" ? [event.code] : []));
      expect(run).not.toContainEqual(expect.stringContaining("print"));
    }
  });

  test("takes the fields of SUBMIT", async () => {
    expect((await answer("SUBMIT(city=result['city'], n=2)")).result.data).toEqual({ city: "Paris", n: 2 });
    const wrong = await answer("SUBMIT(city: Paris)");
    expect(wrong.observations[1]).toContain("SUBMIT(...) was not read");
  });
});
