// Blocks of the documents that are marked with the file that they show, or with the file that prints them.

import { readdirSync, readFileSync } from "node:fs";

export interface MarkedBlock {
  readonly document: string;
  readonly kind: "example" | "output";
  readonly file: string;
  readonly text: string;
}

const BLOCK = /<!-- (?<kind>example|output): (?<file>\S+) -->\n+```\w*\n(?<text>[\s\S]*?)```/g;

export function readMarkedBlocks(): MarkedBlock[] {
  const documents = ["README.md", ...readdirSync("docs").map((name) => `docs/${name}`)];
  return documents
    .filter((name) => name.endsWith(".md"))
    .flatMap((document) =>
      [...readFileSync(document, "utf8").matchAll(BLOCK)].map(({ groups }) => ({ document, ...groups }) as MarkedBlock),
    );
}

/** The documented output of a file. */
export function outputsOf(file: string): string[] {
  return readMarkedBlocks()
    .filter((block) => block.kind === "output" && block.file === file)
    .map(({ text }) => text);
}
