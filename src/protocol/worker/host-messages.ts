// Messages to a worker, as text. What is bulky travels behind the line as a payload, which the writer appends.

import type { SavedState } from "../session-manifest.ts";
import { isWellFormed } from "./is-well-formed.ts";

const INLINE_CHARACTERS = 16 * 1024;

export interface ExecCommand {
  /** Ours: nothing in it needs escaping. */
  readonly id: string;
  readonly count: number;
  readonly code: string;
  readonly env: Readonly<Record<string, string>> | undefined;
  /** What tracebacks call it; absent: by its number. */
  readonly name?: string | undefined;
  /** The streams have two readers that may not read: output on one never waits for the other. Absent: both are read. */
  readonly apart?: true | undefined;
  /** Typed in a console of so many columns; 0: not on a terminal. Its value is pretty-printed, and kept in `Out`. */
  readonly console?: number | undefined;
}

/** A line without its newline, and the payload that must follow it. */
export interface HostMessage {
  readonly line: string;
  readonly payload: string | undefined;
}

export function toExecMessage(
  { id, count, code, env, name, apart, console }: ExecCommand,
  payloadBytes: (text: string) => number,
): HostMessage {
  // Code with lone surrogates has no UTF-8 form: JSON carries it as it is, and Python says what is wrong with it.
  if (code.length <= INLINE_CHARACTERS || !isWellFormed(code)) {
    const isPlain = env === undefined && name === undefined && apart === undefined && console === undefined;
    const rest = isPlain ? "}" : `,${JSON.stringify({ env, name, apart, console }).slice(1)}`;
    return {
      line: `{"id":"${id}","cmd":"exec","count":${count},"code":${JSON.stringify(code)}${rest}`,
      payload: undefined,
    };
  }
  return {
    line: JSON.stringify({ id, cmd: "exec", count, bytes: payloadBytes(code), env, name, apart, console }),
    payload: code,
  };
}

/** Commands besides running code. Each is answered by one `status` event with the same id. */
export type HostCommand =
  | {
      readonly cmd: "configure";
      readonly env?: Readonly<Record<string, string>> | undefined;
      /** By the name in the working directory: where a link leads. */
      readonly links?: Readonly<Record<string, string>> | undefined;
      readonly cwd?: string | undefined;
      readonly argv?: readonly string[] | undefined;
    }
  | { readonly cmd: "reset" }
  | { readonly cmd: "streams" }
  | { readonly cmd: "fork"; readonly branch: number }
  | SetCommand
  | GetCommand
  | { readonly cmd: "save" }
  | { readonly cmd: "can-load"; readonly version: InterpreterVersion }
  | { readonly cmd: "load"; readonly bulk: true; readonly tolerant: boolean; readonly version: InterpreterVersion }
  | { readonly cmd: "stdlib"; readonly source: string; readonly describe?: true }
  | { readonly cmd: "stdlib-add"; readonly source: string; readonly added: string };

/** A value in the line itself, or as many bytes behind it. */
export type SetCommand =
  | { readonly cmd: "set"; readonly name: string; readonly kind: "json" | "text"; readonly value: string }
  | {
      readonly cmd: "set";
      readonly name: string;
      readonly kind: "json" | "text" | "bytes";
      readonly bulk: true;
      readonly size: number;
    };

/** Answered with chunks, at most `maxBytes` in total. */
export interface GetCommand {
  readonly cmd: "get";
  readonly name: string;
  readonly kind: "json" | "text" | "bytes";
  readonly maxBytes: number;
}

/** Of the interpreter that saved a state. One with other `bytecode` compiles the code again from its source. */
type InterpreterVersion = Pick<SavedState, "python" | "implementation" | "bytecode">;

/** Requests that are answered while code may run, in the same way. Cursors are counted in code points. */
export type HostQuestion =
  | { readonly cmd: "statistics" }
  | { readonly cmd: "variables"; readonly all: boolean }
  | UserCodeQuestion;

/** A query that may run user code, for so long. 0: it runs none, and the answer is incomplete. */
export type UserCodeQuestion =
  | { readonly cmd: "inspect"; readonly name: string; readonly maxCharacters: number; readonly timeoutMs: number }
  | { readonly cmd: "source"; readonly name: string; readonly timeoutMs: number }
  | ({ readonly cmd: "rows"; readonly name: string; readonly timeoutMs: number } & TablePart)
  | {
      readonly cmd: "complete" | "signature";
      readonly code: string;
      readonly cursor: number;
      readonly timeoutMs: number;
    };

/** Rows and columns by position. Null: in the order of the value itself. */
export interface TablePart {
  readonly start: number;
  readonly count: number;
  readonly columnStart: number;
  readonly columnCount: number;
  readonly sortBy: number | null;
  readonly descending: boolean;
}

/** About a source that an open call offers. Fetching is answered with chunks and a status. */
export type SourceMessage =
  | { readonly cmd: "fetch"; readonly call: number; readonly source: number }
  /** Nobody waits for it any more. */
  | { readonly cmd: "fetch-end"; readonly call: number };

export function toCommandMessage(id: string, command: HostCommand | HostQuestion | SourceMessage): HostMessage {
  return { line: JSON.stringify({ id, ...command }), payload: undefined };
}

export function toFlushMessage(id: string): HostMessage {
  return { line: JSON.stringify({ cmd: "flush", id }), payload: undefined };
}

export type CallAnswer =
  | { readonly value: unknown }
  | { readonly error: { readonly name: string; readonly value: string } };

export function toReplyMessage(
  id: string,
  call: number,
  answer: CallAnswer,
  payloadBytes: (text: string) => number,
): HostMessage {
  const body = JSON.stringify(answer);
  if (body.length <= INLINE_CHARACTERS) {
    return { line: `{"cmd":"reply","id":${JSON.stringify(id)},"call":${call},${body.slice(1)}`, payload: undefined };
  }
  return { line: JSON.stringify({ cmd: "reply", id, call, bytes: payloadBytes(body) }), payload: body };
}
