// The fenced code blocks of the documents, with the comments right before them, which say how a block is tested:
//
//   <!-- example: FILE -->       it is that file of examples/, which a test runs
//   <!-- output: FILE -->        it is what that file prints
//   <!-- output -->              it is what the block before it prints
//   <!-- not run: REASON -->     it cannot run in a test; its syntax is checked
//   <!-- setup: CODE -->         runs first, in the language of the block; may have several lines
//   <!-- needs: NAME -->         skipped where this module of Python's, or for a console this command, is not installed

import { PAGES, readPage } from "./pages.ts";

export interface Block {
  readonly page: string;
  /** Of its first fence. */
  readonly line: number;
  /** "text" where the fence names none. */
  readonly language: string;
  readonly text: string;
  /** The file that it shows. */
  readonly example: string | undefined;
  /** The file that prints it. Empty: the block before it does. */
  readonly output: string | undefined;
  /** Why it is not run. */
  readonly notRun: string | undefined;
  readonly setup: string;
  /** A module of Python's, or a command. */
  readonly needs: string | undefined;
}

const MARKER = /^(?<kind>example|output|not run|setup|needs)(?::\s*(?<value>[\s\S]*))?$/;
const FENCE = /^(?<indent> *)(?<fence>```+)(?<info>.*)$/;

export function readBlocks(page: string): Block[] {
  return parseBlocks(page, readPage(page));
}

export function parseBlocks(page: string, text: string): Block[] {
  const lines = text.split("\n");
  const blocks: Block[] = [];
  let markers: string[] = [];
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at] ?? "";
    const opened = FENCE.exec(line)?.groups;
    if (opened !== undefined) {
      const { indent = "", fence = "", info = "" } = opened;
      const end = lines.findIndex((other, index) => index > at && other.trim() === fence);
      if (end === -1) throw new Error(`${page}:${at + 1}: this block has no end`);
      const body = lines.slice(at + 1, end).map((one) => (one.startsWith(indent) ? one.slice(indent.length) : one));
      const content = body.length === 0 ? "" : `${body.join("\n")}\n`;
      blocks.push({ page, line: at + 1, language: info.trim() || "text", text: content, ...readMarkers(markers) });
      markers = [];
      at = end;
    } else if (line.trimStart().startsWith("<!--")) {
      const end = lines.findIndex((other, index) => index >= at && other.includes("-->"));
      if (end === -1) throw new Error(`${page}:${at + 1}: this comment has no end`);
      const comment = lines
        .slice(at, end + 1)
        .join("\n")
        .trim();
      markers.push(comment.slice("<!--".length, -"-->".length).trim());
      at = end;
    } else if (line.trim() !== "") markers = [];
  }
  return blocks;
}

function readMarkers(comments: readonly string[]): Pick<Block, "example" | "output" | "notRun" | "setup" | "needs"> {
  const found = new Map<string, string>();
  for (const comment of comments) {
    const { kind, value = "" } = MARKER.exec(comment)?.groups ?? {};
    if (kind !== undefined) found.set(kind, value.trim());
  }
  return {
    example: found.get("example"),
    output: found.get("output"),
    notRun: found.get("not run"),
    setup: found.get("setup") ?? "",
    needs: found.get("needs"),
  };
}

export function nameOf({ page, line }: Block): string {
  return `${page}:${line}`;
}

/** What the documents say that a file prints. */
export function outputsOf(file: string): string[] {
  return PAGES.flatMap(readBlocks)
    .filter(({ output }) => output === file)
    .map(({ text }) => text);
}
