// What the documents show is what the program does: every marked block is compared with an example and its output.

import { readdirSync, readFileSync } from "node:fs";
import { afterEach, expect, test, vi } from "vitest";

const documents = ["README.md", ...readdirSync("docs").map((name) => `docs/${name}`)].filter((name) =>
  name.endsWith(".md"),
);
const BLOCK = /<!-- (?<kind>example|output): (?<file>\S+) -->\n+```\w*\n(?<text>[\s\S]*?)```/g;

const blocks = documents.flatMap((document) =>
  [...readFileSync(document, "utf8").matchAll(BLOCK)].map(({ groups }) => ({ document, ...groups })),
) as { readonly document: string; readonly kind: string; readonly file: string; readonly text: string }[];

afterEach(() => {
  vi.restoreAllMocks();
});

test("the documents have marked examples", () => {
  expect(blocks.length).toBeGreaterThan(0);
});

test.each(blocks.filter(({ kind }) => kind === "example"))("$document shows $file as it is", ({ file, text }) => {
  expect(text).toBe(readFileSync(file, "utf8"));
});

test.each(readdirSync("examples"))("examples/%s runs and prints what the documents say", async (name) => {
  const lines: string[] = [];
  vi.spyOn(console, "log").mockImplementation((...parts: unknown[]) => void lines.push(parts.join(" ")));
  await import(/* @vite-ignore */ `../examples/${name}`);
  for (const { text } of blocks.filter(({ kind, file }) => kind === "output" && file === `examples/${name}`)) {
    expect(lines).toEqual(text.trimEnd().split("\n"));
  }
});
