// One variable of a context.

import type { FileRange, VariableValue } from "../../session/state/set-variable.ts";

export interface ContextItem {
  /** The name of the variable. */
  readonly name: string;
  readonly kind: "text" | "json" | "files" | "bytes";
  readonly bytes: number;
  readonly value: Exclude<VariableValue, { readonly open: unknown }> | readonly ContextFile[];
  /** The name of the folder that the files are in. */
  readonly folder?: string;
}

/** A file that becomes a value in a dict, under its name. */
export interface ContextFile {
  readonly name: string;
  /** On the host. */
  readonly path: string;
  /** When the run was requested. */
  readonly size: number;
  /** Absent: all of it. */
  readonly range?: FileRange;
  /** What was read of it already. Absent: it is read when it is loaded. */
  readonly content?: Buffer;
}

/** Whether it is a dict of files. */
export function isFiles(value: ContextItem["value"]): value is readonly ContextFile[] {
  return Array.isArray(value);
}
