// Compares every marked block of the documents with its example and the example's output.

import { readdirSync, readFileSync, rmSync } from "node:fs";
import { afterAll, afterEach, expect, test, vi } from "vitest";
import { makeDataFolder } from "./make-data-folder.ts";
import { outputsOf, readMarkedBlocks } from "./marked-blocks.ts";

const blocks = readMarkedBlocks();

afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
});

const data = makeDataFolder();
afterAll(() => rmSync(data, { recursive: true, force: true }));

test("the documents have marked examples", () => {
  expect(blocks.length).toBeGreaterThan(0);
});

test.each(blocks.filter(({ kind }) => kind === "example"))("$document shows $file as it is", ({ file, text }) => {
  expect(text).toBe(readFileSync(file, "utf8"));
});

const examples = readdirSync("examples").filter((name) => name.endsWith(".ts"));

test.each(examples)("examples/%s runs and prints what the documents say", async (name) => {
  vi.stubEnv("RLM_MODEL", undefined); // models are played
  vi.stubEnv("RLM_DATA", data);
  const lines: string[] = [];
  vi.spyOn(console, "log").mockImplementation((...parts: unknown[]) => void lines.push(...parts.join(" ").split("\n")));
  await import(/* @vite-ignore */ `../examples/${name}`);
  for (const text of outputsOf(`examples/${name}`)) expect(lines).toEqual(text.trimEnd().split("\n"));
});
