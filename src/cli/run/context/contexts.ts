// --context: files, folders, globs, JSON and standard input as the context of a run.
//
// One file becomes the variable `context` as text, one .json file its value; everything else is a dict from path to text.
// A missing file is an error before anything starts.

import { readFile, realpath, stat } from "node:fs/promises";
import { normalize } from "node:path";
import { describeReadProblem } from "../../../util/files/file-problem.ts";
import { formatCount, formatSize } from "../../../util/text/format.ts";
import { toLine } from "../../io/text-block.ts";
import { UsageError } from "../../options/usage-error.ts";
import { isGlob, toGlob } from "./glob.ts";
import type { StdinFile } from "./stdin-file.ts";
import { conversionOf } from "./not-text.ts";
import { Skipped } from "./skipped.ts";
import { classifyFile, MAX_FILES, walkFolder, type FoundFile } from "./walk-folder.ts";

/** Where the context is. */
export type FoundContext =
  | { readonly file: string; readonly as: "text" | "json" }
  | { readonly files: readonly FoundFile[] };

type Context =
  | { readonly file: string }
  | { readonly text: string; readonly as: "json" }
  | { readonly files: readonly FoundFile[] };

const MAX_BYTES = 4 * 1024 ** 3;
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
  const groups: Group[] = [];
  for (const name of names) groups.push(await findFiles(name, input, skipped));
  checkCount(groups.flatMap(({ files }) => files));
  const context = await toContext(groups);
  const summary = context === undefined ? "" : describe(context, names[0] ?? "", await measure(context));
  return { context, summary, skipped: skipped.toString() };
}

/** `42 files, 336 KiB`. */
function describe(context: FoundContext, name: string, bytes: number): string {
  const size = formatSize(bytes).replace(".0 ", " ");
  if ("files" in context) return `${formatCount(context.files.length, "file")}, ${size}`;
  const what = name === STANDARD_INPUT ? "standard input" : toLine(name, MAX_NAME);
  return `${what}, ${size}${context.as === "json" ? " of JSON" : ""}`;
}

interface Group {
  /** A single file, not a folder or glob. */
  readonly isSingle: boolean;
  readonly files: readonly FoundFile[];
}

async function findFiles(name: string, input: StdinFile, skipped: Skipped): Promise<Group> {
  if (name === STANDARD_INPUT) return single({ name: "stdin", path: await input.save() }, "standard input");
  const stats = await stat(name).catch((error: NodeJS.ErrnoException) => error);
  if (!(stats instanceof Error)) {
    if (stats.isFile()) return single({ name: normalize(name), path: name }, `'${name}'`);
    if (!stats.isDirectory())
      throw new UsageError(`cannot take '${name}' as context: it is neither a file nor a folder`);
    return several(name, await walkFolder(normalize(name), skipped), skipped);
  }
  if (!isGlob(name))
    throw new UsageError(`cannot take '${name}' as context: ${REASONS[stats.code ?? ""] ?? stats.message}`);
  const { folder, matches } = toGlob(name.replace(/^(\.\/)+/, ""));
  return several(name, await walkFolder(folder, skipped, matches), skipped);
}

async function single(file: FoundFile, what: string): Promise<Group> {
  const kind = await classifyFile(file.path);
  if (kind === "text") return { isSingle: true, files: [file] };
  if (kind === "unreadable") throw new UsageError(`cannot take ${what} as context: it may not be read`);
  const isInput = what === "standard input";
  const command = isInput ? "with pdftotext or iconv" : conversionOf(file.path, kind);
  const example = command === undefined ? "" : `, e.g. ${command}`;
  throw new UsageError(`${isInput ? what : file.path} is not text: convert it${example}`);
}

function several(name: string, files: readonly FoundFile[], skipped: Skipped): Group {
  if (files.length > 0) return { isSingle: false, files };
  const others = skipped.toString() === "" ? "" : `, only ${skipped.toString()}`;
  throw new UsageError(
    `cannot take '${name}' as context: ${isGlob(name) ? "it matches" : "it has"} no text files${others}`,
  );
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: "there is no such file or folder",
  ENOTDIR: "there is no such file or folder",
  EACCES: "it may not be read",
};

function checkCount({ length: count }: readonly FoundFile[]): void {
  if (count > MAX_FILES)
    throw new UsageError(`cannot take more than ${MAX_FILES} files as context: there are ${count}`);
}

/** The bytes of all its files. Throws a UsageError where there are too many. */
async function measure(context: FoundContext): Promise<number> {
  const paths = "files" in context ? context.files.map(({ path }) => path) : [context.file];
  let bytes = 0;
  for (const path of paths) bytes += (await stat(path)).size;
  if (bytes <= MAX_BYTES) return bytes;
  throw new UsageError(`cannot take more than 4 GiB as context: there are ${(bytes / 1024 ** 3).toFixed(1)}`);
}

async function toContext(groups: readonly Group[]): Promise<FoundContext | undefined> {
  const [first, ...others] = groups;
  if (first === undefined) return undefined;
  const [only] = first.files;
  if (others.length > 0 || !first.isSingle || only === undefined) return { files: await withoutDuplicates(groups) };
  return { file: only.path, as: only.name.endsWith(".json") ? "json" : "text" };
}

/** A file that is named twice counts once. */
async function withoutDuplicates(groups: readonly Group[]): Promise<FoundFile[]> {
  const found = new Map<string, FoundFile>();
  for (const file of groups.flatMap(({ files }) => files)) {
    const path = await realpath(file.path);
    if (!found.has(path)) found.set(path, file);
  }
  return [...found.values()];
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
