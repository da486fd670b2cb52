// Identifiers as branded strings, so that one kind is never passed for another.

declare const brand: unique symbol;
type Branded<Name extends string> = string & { readonly [brand]: Name };

/** The id of a session. */
export type SessionId = Branded<"session">;
/** The id of an execution. */
export type ExecutionId = Branded<"execution">;
/** The id of a recursive run. */
export type RunId = Branded<"run">;
/** Of a shell command, or of an execution that outlived its call. */
export type TaskId = Branded<"task">;

/** Of an execution, a task or a run, where the caller chooses it. Safe as the name of a file and in a header. */
export const WORK_ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;

export const SESSION_ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/** Accepts what a person would type as a name: letters, digits, `.`, `_`, `-`, 64 at most. Throws a RangeError, or a TypeError. */
export function parseSessionId(value: unknown): SessionId {
  if (typeof value !== "string") throw new TypeError(`Cannot use a ${typeof value} as a session id: give a string`);
  if (!SESSION_ID.test(value)) {
    throw new RangeError(
      `Cannot use '${value.slice(0, 80)}' as a session id: letters, digits, '.', '_', '-', at most 64`,
    );
  }
  return value as SessionId;
}

/** Checks an id that a caller chose for an execution, a task or a run. Throws a RangeError, or a TypeError. */
export function checkWorkId(value: unknown): void {
  if (typeof value !== "string") throw new TypeError(`Cannot use a ${typeof value} as an id: give a string`);
  if (WORK_ID.test(value)) return;
  throw new RangeError(`Cannot use '${value.slice(0, 80)}' as an id: letters, digits, '.', '_', '-', at most 128`);
}
