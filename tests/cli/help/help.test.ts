import type { Command } from "commander";
import { expect, test } from "vitest";
import { createProgram } from "../../../src/cli/main.ts";

const COLUMNS = 80;

/** The help of the command and of all below it, by name, as a terminal of 80 columns gets it. */
function helpTexts(command: Command, parents: readonly string[] = []): [name: string, text: string][] {
  const names = [...parents, command.name()];
  let text = "";
  command.configureOutput({ getOutHelpWidth: () => COLUMNS, writeOut: (part) => (text += part) }).outputHelp();
  return [[names.join(" "), text], ...command.commands.flatMap((one) => helpTexts(one, names))];
}

const TEXTS = helpTexts(createProgram());

test("no line of any help is wider than 80 columns", () => {
  const wide = TEXTS.flatMap(([name, text]) =>
    text
      .split("\n")
      .filter((line) => line.length > COLUMNS)
      .map((line) => `${name}: ${line}`),
  );
  expect(wide).toEqual([]);
  expect(TEXTS.length).toBeGreaterThan(20);
});

test("every help has the options for the log once", () => {
  const counts = TEXTS.map(([name, text]) => [name, text.split("--log-file <path>").length - 1]);
  expect(counts).toEqual(TEXTS.map(([name]) => [name, 1]));
});
