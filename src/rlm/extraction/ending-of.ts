// How a node ends after an error: with the best answer that its model can give from what it has seen, or without one.

import { BackendConnectionError, type BackendFault } from "../../errors.ts";
import type { StopReason } from "../../protocol/runs.ts";
import { LimitReached } from "../ledger/limit-reached.ts";
import type { NodeOutcome } from "../run-context.ts";
import { NoProgress } from "./no-progress.ts";

export type Ending =
  | {
      readonly kind: "extract";
      readonly stopReason: StopReason;
      readonly why: string;
      /** Whether the whole conversation is known to be too long, or to be refused. */
      readonly isRefused: boolean;
    }
  | { readonly kind: "no-answer"; readonly outcome: NodeOutcome };

interface Facts {
  /** Of the node's work. */
  readonly signal: AbortSignal;
  /** Whether code has run. */
  readonly hasSeen: boolean;
}

/** Faults after which no other call of the model can be better. */
const HOPELESS: ReadonlySet<BackendFault> = new Set(["configuration", "authentication"]);

export function endingOf(error: unknown, { signal, hasSeen }: Facts): Ending {
  const cause: unknown = signal.aborted ? signal.reason : error;
  if (cause instanceof LimitReached) return extraction(cause.axis, cause.message);
  if (signal.aborted) return noAnswer({ status: "cancelled", stopReason: "cancelled", why: "it was cancelled" });
  const why = error instanceof Error ? error.message : String(error);
  const fault = faultOf(error);
  if (fault === "context-too-long") {
    return extraction("error", "the conversation is longer than the model's window", true);
  }
  const isWorthAsking = error instanceof NoProgress || (fault !== undefined && !HOPELESS.has(fault));
  if (isWorthAsking && hasSeen) return extraction("error", why, fault === "refusal");
  const backendError = error instanceof BackendConnectionError ? error : undefined;
  return noAnswer({ status: "failed", stopReason: "error", why, ...(backendError && { backendError }) });
}

/** Undefined: it is no error of a backend. */
export function faultOf(error: unknown): BackendFault | undefined {
  return error instanceof BackendConnectionError ? error.fault : undefined;
}

function extraction(stopReason: StopReason, why: string, isRefused = false): Ending {
  return { kind: "extract", stopReason, why, isRefused };
}

function noAnswer(outcome: Omit<NodeOutcome, "answer">): Ending {
  return { kind: "no-answer", outcome: { ...outcome, answer: null } };
}
