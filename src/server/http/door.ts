// What the routes of one server share.

import type { RLMOptions, Runtime } from "../../runtime.ts";
import type { Executions } from "./executions.ts";
import type { Inputs } from "./inputs.ts";
import type { Retries } from "./retries.ts";

export interface Door {
  readonly runtime: Runtime;
  /** Those that began here. */
  readonly executions: Executions;
  /** Those of them that wait for a line. */
  readonly inputs: Inputs;
  /** What was asked with an Idempotency-Key. */
  readonly retries: Retries;
  /** Which model runs ask, unless a request says more; or why there is none. */
  readonly model: RLMOptions | { readonly whyNot: string };
  /** Aborted when the server begins to end: nothing new begins, and what goes on may take a while. */
  readonly draining: AbortSignal;
  /** Aborted when that while is over: what would never end by itself ends now. */
  readonly ending: AbortSignal;
}
