// The context of a run as callers give it, with what is streamed received into files first.

import { checkContextFiles } from "../api/checks/check-context.ts";
import { checkContent } from "../api/content.ts";
import type { HostFile, LocalContext, LocalContextValue } from "../api/local.ts";
import type { ContextFile } from "../api/run.ts";
import type { Content, Signal } from "../api/web-types.ts";
import type { Context, ContextValue } from "../rlm/context/context-items.ts";
import type { FileRange } from "../session/state/set-variable.ts";
import { ContentSpool } from "./spool-content.ts";

export interface ReceivedContext extends AsyncDisposable {
  readonly context: Context;
}

type ReceivedFile = HostFile & { readonly range?: FileRange };

/** A context of which something is streamed. */
export class StreamedContext {
  /** The same variables, with empty texts where something is streamed. */
  readonly outline: Context;
  readonly #context: LocalContext;
  readonly #signal: Signal | undefined;

  constructor(context: LocalContext, signal: Signal | undefined) {
    this.outline = isValue(context) ? "" : toOutline(context);
    this.#context = context;
    this.#signal = signal;
  }

  /** Call it once. What it gives must be disposed when nothing reads it any more. */
  receive(): Promise<ReceivedContext> {
    return new Receiver(this.#signal).receive(this.#context);
  }
}

/** Of everything in it together: what a session could not hold anyway is refused before it fills the disk. */
const MAX_BYTES = 8 * 1024 ** 3;

/** The context as it is where nothing of it is streamed. Throws a TypeError or RangeError for files that cannot be used. */
export function receiveContext(context: LocalContext, signal: Signal | undefined): Context | StreamedContext {
  checkFiles(context);
  return isStreamed(context) ? new StreamedContext(context, signal) : (context as Context);
}

function checkFiles(context: LocalContext): void {
  if (typeof context !== "object" || context === null) return;
  for (const value of [context, ...Object.values(context)] as readonly unknown[]) {
    const { files, folder } = (typeof value === "object" && value !== null ? value : {}) as Record<string, unknown>;
    if (Array.isArray(files)) checkContextFiles(files, ["path", "content"], folder);
  }
}

function toOutline(context: Readonly<Record<string, LocalContextValue>>): Context {
  const values = Object.entries(context).map(([name, value]) => [name, hasContent(value) ? "" : value]);
  return Object.fromEntries(values) as Context;
}

function isStreamed(context: LocalContext): boolean {
  if (typeof context !== "object" || context === null) return false;
  return isValue(context) ? hasContent(context) : Object.values(context).some((value) => hasContent(value));
}

/** Whether it is the value of one variable, and not an object of them. */
function isValue(context: LocalContext): context is LocalContextValue {
  if (typeof context !== "object" || "file" in context || "json" in context) return typeof context !== "object";
  if ("files" in context) return Array.isArray(context.files);
  return "text" in context && isContent(context.text);
}

/** Whether the runtime cannot take the value as it is. */
function hasContent(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  const { text, files } = value as { readonly text?: unknown; readonly files?: unknown };
  if (Array.isArray(files))
    return files.some((file: unknown) => typeof file === "object" && file !== null && "content" in file);
  return text !== undefined && typeof text !== "string" && isContent(text);
}

function isContent(value: unknown): value is Content {
  try {
    checkContent("the context", value);
    return true;
  } catch {
    return false;
  }
}

class Receiver {
  readonly #spool: ContentSpool;

  constructor(signal: Signal | undefined) {
    this.#spool = new ContentSpool({ maxBytes: MAX_BYTES, signal });
  }

  async receive(context: LocalContext): Promise<ReceivedContext> {
    const close = (): Promise<void> => this.#spool[Symbol.asyncDispose]();
    try {
      return { context: await this.#toContext(context), [Symbol.asyncDispose]: close };
    } catch (error) {
      await close();
      throw error;
    }
  }

  async #toContext(context: LocalContext): Promise<Context> {
    if (isValue(context)) return this.#toValue(context);
    const values: Record<string, ContextValue> = {};
    for (const [name, value] of Object.entries(context)) values[name] = await this.#toValue(value);
    return values;
  }

  async #toValue(value: LocalContextValue): Promise<ContextValue> {
    if (!hasContent(value) || typeof value === "string") return value as ContextValue;
    if ("files" in value) return { ...value, files: await this.#toFiles(value.files) };
    if (!("text" in value)) return value;
    const { path: file, range } = await this.#spool.add(value.text);
    return { file, as: value.as ?? "text", range };
  }

  async #toFiles(files: readonly (ContextFile | HostFile)[]): Promise<readonly ReceivedFile[]> {
    const received: ReceivedFile[] = [];
    for (const file of files) {
      if (!("content" in file)) received.push(file);
      else received.push({ name: file.name, ...(await this.#spool.add(file.content)) });
    }
    return received;
  }
}
