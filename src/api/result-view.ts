// What a result offers beside its data: the usual representations of its value, and `unwrap`.
//
// The members are on the prototype, so they are neither enumerated, nor copied by a spread, nor part of its JSON.

import { REPLExecutionError } from "../errors.ts";
import type { ExecutionResult, MimeBundle } from "../protocol/execution.ts";

/** The value in its usual forms, and `unwrap`. Each is of `value`, else of the last display that has it. */
export interface ResultView {
  /** `text/plain`. Undefined: there is none. */
  readonly text: string | undefined;
  /** `text/html`. Undefined: there is none. */
  readonly html: string | undefined;
  /** `image/png`, as bytes. Undefined: there is none. */
  readonly png: Uint8Array | undefined;
  /** `application/json`, parsed. Undefined: there is none. */
  readonly json: unknown;
  /** The result itself when its status is `ok`; otherwise throws a REPLExecutionError. */
  unwrap(): OkResult;
}

/** The result of an execution: plain data by `status`, and its value in the usual forms. */
export type Result = ExecutionResult & ResultView;
/** The result of code that ran to its end. */
export type OkResult = Extract<ExecutionResult, { readonly status: "ok" }> & ResultView;

/** The prototype of results. */
export class ResultViewer implements ResultView {
  get text(): string | undefined {
    return this.#find("text/plain");
  }

  get html(): string | undefined {
    return this.#find("text/html");
  }

  get png(): Uint8Array | undefined {
    const base64 = this.#find("image/png");
    return base64 === undefined ? undefined : Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  }

  get json(): unknown {
    const text = this.#find("application/json");
    return text === undefined ? undefined : (JSON.parse(text) as unknown);
  }

  unwrap(): OkResult {
    const result = this as unknown as Result;
    if (result.status !== "ok") throw new REPLExecutionError(result);
    return result;
  }

  #find(type: string): string | undefined {
    const { value, displays } = this as unknown as { value?: MimeBundle; displays: readonly MimeBundle[] };
    return value?.[type] ?? displays.findLast((bundle) => bundle[type] !== undefined)?.[type];
  }
}

/** Adds the view to a result that came as plain data. */
export function toResult(result: ExecutionResult): Result {
  return Object.assign(new ResultViewer(), result);
}
