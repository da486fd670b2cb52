// Runs as plain data: how one is requested, how it stands, and what came of it.

import { z } from "zod";
import { runId } from "./id-schemas.ts";
import type { Shape } from "./shape.ts";
import { modelUsage } from "./usage.ts";

/** `n0` is the root. Children are `n1`, `n2`, ... in order of creation. */
export type NodeId = string;

export const runStatus = z.enum(["final", "partial", "failed", "cancelled"]);
export type RunStatus = Shape<typeof runStatus>;

export const ledgerAxis = z.enum(["tokens", "costUsd", "llmCalls", "toolCalls", "wallMs", "iterations"]);
export type LedgerAxis = Shape<typeof ledgerAxis>;

/** `answered`: by FINAL and the like. The others name what ended the run: a limit (by its axis), an error, or the caller. */
export const stopReason = z.enum(["answered", ...ledgerAxis.options, "error", "cancelled"]);
export type StopReason = Shape<typeof stopReason>;

/** Absent: no limit on this axis. */
export const ledgerLimits = z.partialRecord(ledgerAxis, z.number());
export type LedgerLimits = Shape<typeof ledgerLimits>;

export const runUsage = z.object({
  total: modelUsage,
  byModel: z.record(z.string(), modelUsage),
  byNode: z.record(z.string(), modelUsage),
  wallMs: z.number(),
});
export type RunUsage = Shape<typeof runUsage>;

export const runResult = z
  .object({
    runId,
    status: runStatus,
    stopReason,
    answer: z.string().nullable().describe("Null: there is none"),
    data: z
      .unknown()
      .optional()
      .describe(
        "The answer as data: the argument of FINAL or SUBMIT, checked where there is a schema. Absent: it has none",
      ),
    why: z.string().nullable().describe("Why it failed or ended early. Null: there is nothing to say"),
    usage: runUsage,
  })
  .meta({ id: "RunResult" });
export type RunResult = Shape<typeof runResult>;

export const runInfo = z
  .object({
    id: z.string(),
    query: z.string().describe("The question, or its beginning"),
    model: z.string(),
    subModel: z.string(),
    status: z
      .enum(["running", ...runStatus.options, "broken"])
      .describe("`broken`: its process is gone, and it has no end"),
    stopReason: stopReason.nullable(),
    startedAt: z.iso.datetime(),
    endedAt: z.iso.datetime().nullable(),
    wallMs: z.number().nullable(),
    usage: modelUsage.nullable().describe("In total. Null: it is running, or broke"),
  })
  .meta({ id: "RunInfo" });
export type RunInfo = Shape<typeof runInfo>;

export const run = runInfo
  .extend({ result: runResult.nullable().describe("Null: it has not ended, or broke") })
  .meta({ id: "Run" });
export type RunView = Shape<typeof run>;

export const runList = z
  .object({ runs: z.array(runInfo), total: z.int().describe("How many there are") })
  .meta({ id: "RunList" });
export type RunList = Shape<typeof runList>;
