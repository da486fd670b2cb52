// What a check of `rlm doctor` found.

import type { Capabilities } from "../../protocol/capabilities.ts";

export interface Finding {
  readonly check: string;
  /** `warn`: it works, but could be better. `fail`: sessions or the server do not work until it is fixed. */
  readonly status: "ok" | "warn" | "fail";
  readonly found: string;
  /** What to do; only if the status is not `ok`. */
  readonly fix?: string;
  /** Of the environment that was tried. */
  readonly capabilities?: Capabilities;
}

export function ok(check: string, found: string): Finding {
  return { check, status: "ok", found };
}

export function warn(check: string, found: string, fix: string): Finding {
  return { check, status: "warn", found, fix };
}
