// --context: files, folders, globs, JSON and standard input as the context of a run.
//
// One file becomes the variable `context` as text, one .json file its value; everything else is a dict from name to text. A missing
// file is an error before anything starts.

import { readFile, realpath, stat } from "node:fs/promises";
import { basename, dirname, normalize } from "node:path";
import { describeReadProblem } from "../../../util/files/file-problem.ts";
import { formatCount, formatSize } from "../../../util/text/format.ts";
import { toLine } from "../../io/text-block.ts";
import { UsageError } from "../../options/usage-error.ts";
import { Classifier } from "./classify-file.ts";
import { isGlob, toGlob } from "./glob.ts";
import { nameFiles, type FileGroup, type NamedFiles } from "./name-files.ts";
import type { StdinFile } from "./stdin-file.ts";
import { conversionOf } from "./not-text.ts";
import { Skipped } from "./skipped.ts";
import { MAX_FILES, walkFolder } from "./walk-folder.ts";

/** Where the context is. */
export type FoundContext = { readonly file: string; readonly size: number; readonly as: "text" | "json" } | NamedFiles;

type Context = { readonly file: string } | { readonly text: string; readonly as: "json" } | NamedFiles;

const MAX_JSON_BYTES = 256 * 1024 ** 2;
const STANDARD_INPUT = "-";
const MAX_NAME = 60;

interface Gathered<Value> {
  /** Undefined: no files were named. */
  readonly context: Value | undefined;
  /** What it is, and its size: `42 files, 336 KiB`. Empty: no files were named. */
  readonly summary: string;
  /** A description of what was skipped; empty if nothing was. */
  readonly skipped: string;
}

/** For a run on this machine: JSON is read and checked. Throws a UsageError. */
export async function gatherContext(names: readonly string[], input: StdinFile): Promise<Gathered<Context>> {
  const { context, ...report } = await findContext(names, input);
  if (context === undefined || "files" in context) return { context, ...report };
  const { file, as } = context;
  return { context: as === "json" ? { text: await readJSONText(file), as } : { file }, ...report };
}

/** Reads only as much of each file as tells that it is text. Throws a UsageError. */
export async function findContext(names: readonly string[], input: StdinFile): Promise<Gathered<FoundContext>> {
  if (names.filter((name) => name === STANDARD_INPUT).length > 1) throw new UsageError("- can be a context once only");
  const skipped = new Skipped();
  const groups: FileGroup[] = [];
  for (const name of names) groups.push(await findFiles(name, input, skipped));
  const context = toContext(groups);
  return { context, summary: describe(context, names[0] ?? ""), skipped: skipped.toString() };
}

/** `42 files, 336 KiB`. */
function describe(context: FoundContext | undefined, name: string): string {
  if (context === undefined) return "";
  const toText = (bytes: number): string => formatSize(bytes).replace(".0 ", " ");
  if ("files" in context) {
    const bytes = context.files.reduce((sum, { size }) => sum + size, 0);
    return `${formatCount(context.files.length, "file")}, ${toText(bytes)}`;
  }
  const what = name === STANDARD_INPUT ? "standard input" : toLine(name, MAX_NAME);
  return `${what}, ${toText(context.size)}${context.as === "json" ? " of JSON" : ""}`;
}

async function findFiles(name: string, input: StdinFile, skipped: Skipped): Promise<FileGroup> {
  if (name === STANDARD_INPUT) return single("input", await input.save(), "standard input");
  const stats = await stat(name).catch((error: NodeJS.ErrnoException) => error);
  if (!(stats instanceof Error)) {
    if (stats.isFile()) return single("file", normalize(name), `'${name}'`);
    if (!stats.isDirectory())
      throw new UsageError(`cannot take '${name}' as context: it is neither a file nor a folder`);
    return several("folder", { name, folder: normalize(name) }, skipped);
  }
  if (!isGlob(name)) {
    const { code = "" } = stats;
    const why =
      code === "ENOENT" || code === "ENOTDIR" ? "there is no such file or folder" : describeReadProblem(stats);
    throw new UsageError(`cannot take '${name}' as context: ${why}`);
  }
  return several("glob", { name, ...toGlob(name.replace(/^(\.\/)+/, "")) }, skipped);
}

async function single(kind: "file" | "input", path: string, what: string): Promise<FileGroup> {
  const { kind: content, size } = await new Classifier().classify(path);
  if (content === "unreadable") throw new UsageError(`cannot take ${what} as context: it may not be read`);
  if (content !== "text") {
    const command = kind === "input" ? "with pdftotext or iconv" : conversionOf(path, content);
    const example = command === undefined ? "" : `, e.g. ${command}`;
    throw new UsageError(`${kind === "input" ? what : path} is not text: convert it${example}`);
  }
  return { kind, folder: dirname(path), real: await realpath(path), files: [{ name: basename(path), path, size }] };
}

interface Searched {
  readonly name: string;
  readonly folder: string;
  readonly matches?: (relative: string) => boolean;
}

async function several(kind: "folder" | "glob", searched: Searched, skipped: Skipped): Promise<FileGroup> {
  const { name, folder, matches } = searched;
  const files = await walkFolder(folder, skipped, matches);
  if (files.length > 0) return { kind, folder, real: await realpath(folder), files };
  const others = skipped.toString() === "" ? "" : `, only ${skipped.toString()}`;
  throw new UsageError(
    `cannot take '${name}' as context: ${kind === "glob" ? "it matches" : "it has"} no text files${others}`,
  );
}

function toContext(groups: readonly FileGroup[]): FoundContext | undefined {
  const [first, ...others] = groups;
  if (first === undefined) return undefined;
  const [only] = first.files;
  const isSingle = first.kind === "file" || first.kind === "input";
  if (others.length === 0 && isSingle && only !== undefined) {
    const { path: file, size } = only;
    return { file, size, as: first.kind === "file" && file.endsWith(".json") ? "json" : "text" };
  }
  const named = nameFiles(groups);
  const { length: count } = named.files;
  if (count <= MAX_FILES) return named;
  throw new UsageError(
    `cannot take more than ${formatCount(MAX_FILES)} files as context: there are ${formatCount(count)}`,
  );
}

/** `what`: what the file is, for the message. */
export async function readJSON(path: string, what: string): Promise<unknown> {
  return JSON.parse(await readJSONText(path, what)) as unknown;
}

/** Checks the JSON and returns its text: numbers would lose precision in JavaScript. */
async function readJSONText(path: string, what = ""): Promise<string> {
  try {
    const { size } = await stat(path);
    if (size > MAX_JSON_BYTES)
      throw new Error("it is larger than 256 MiB; give it another ending to have it read as text");
    const text = await readFile(path, "utf8");
    JSON.parse(text);
    return text;
  } catch (error) {
    const { message } = error as Error;
    const why = error instanceof SyntaxError ? `it is not JSON: ${message}` : describeReadProblem(error);
    throw new UsageError(`cannot use ${what}'${path}': ${why}`);
  }
}
