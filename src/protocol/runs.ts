// Runs as plain data: how one is requested, how it stands, and what came of it.

import { z } from "zod";
import { runId } from "./id-schemas.ts";
import { problemSummary } from "./api/problem.ts";
import type { Shape } from "./shape.ts";
import { modelUsage } from "./usage.ts";

/** `n0` is the root. Children are `n1`, `n2`, ... in order of creation. */
export type NodeId = string;

export const runStatus = z
  .enum(["final", "partial", "failed", "cancelled"])
  .describe("How a run ended. `partial`: at a limit, with the best answer that there was");
export type RunStatus = Shape<typeof runStatus>;

export const ledgerAxis = z
  .enum(["tokens", "costUsd", "llmCalls", "toolCalls", "wallMs", "iterations"])
  .describe("What a run may be limited by");
export type LedgerAxis = Shape<typeof ledgerAxis>;

export const stopReason = z
  .enum(["answered", ...ledgerAxis.options, "error", "cancelled"])
  .describe(
    "What ended a run. `answered`: FINAL and the like. The others: a limit, by its axis, an error, or the caller",
  );
export type StopReason = Shape<typeof stopReason>;

const axisLimits: Readonly<Record<LedgerAxis, z.ZodOptional<z.ZodNumber>>> = {
  tokens: z.number().optional().describe("Input and output"),
  costUsd: z.number().optional().describe("By the price of each model"),
  llmCalls: z.number().optional().describe("Calls of models"),
  toolCalls: z.number().optional().describe("Calls of tools"),
  wallMs: z.number().optional().describe("Time from the beginning"),
  iterations: z.number().optional().describe("Steps of all nodes"),
};
export const ledgerLimits = z
  .strictObject(axisLimits)
  .describe("Limits on what a run may use. Absent: no limit on this axis");
export type LedgerLimits = Shape<typeof ledgerLimits>;

export const runUsage = z
  .object({
    total: modelUsage.describe("All nodes together"),
    byModel: z.record(z.string(), modelUsage).describe("By the name of the model"),
    byRole: z
      .object({
        root: modelUsage.exactOptional().describe("Steps of the root, or the answer without a session"),
        child: modelUsage.exactOptional().describe("Steps of nodes below the root"),
        sub: modelUsage.exactOptional().describe("Queries of code"),
        extract: modelUsage.exactOptional().describe("The best answer at a limit"),
      })
      .describe("By what models were asked for. Absent: they never were"),
    byNode: z.record(z.string(), modelUsage).describe("By the id of the node; `n0` is the root"),
    wallMs: z.number().describe("Time from the beginning to the end"),
  })
  .describe("What a run used");
export type RunUsage = Shape<typeof runUsage>;
/** What a model is asked for. */
export type ModelRole = keyof RunUsage["byRole"];

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
    usage: runUsage.describe("What it used"),
  })
  .meta({ id: "RunResult", description: "What came of a run" });
export type RunResult = Shape<typeof runResult>;

export const runState = z
  .enum(["running", ...runStatus.options, "broken"])
  .describe("`broken`: its process is gone, and it has no end");

export const runInfo = z
  .object({
    id: z.string().describe("The id of the run"),
    query: z.string().describe("The question, or its beginning"),
    model: z.string().describe("Of the root"),
    subModel: z.string().describe("Answers `llm_query`"),
    status: runState,
    stopReason: stopReason.nullable().describe("What ended it. Null: it is running, or broke"),
    startedAt: z.iso.datetime().describe("When it began"),
    endedAt: z.iso.datetime().nullable().describe("Null: it is running, or broke"),
    wallMs: z.number().nullable().describe("Time from the beginning to the end. Null: it is running, or broke"),
    usage: modelUsage.nullable().describe("In total. Null: it is running, or broke"),
    notRecorded: z
      .string()
      .exactOptional()
      .describe("Why it is not recorded, or only in part. Absent: its record is complete so far"),
  })
  .meta({ id: "RunInfo", description: "A run: what it was asked, and its state" });
export type RunInfo = Shape<typeof runInfo>;

export const run = runInfo
  .extend({
    result: runResult.nullable().describe("Null: it has not ended, or broke"),
    problem: problemSummary.exactOptional().describe("Why it failed, where `onLimit` is `throw` or it could not go on"),
  })
  .meta({ id: "Run" });
export type RunView = Shape<typeof run>;

export const runList = z
  .object({
    runs: z.array(runInfo),
    next: z.string().nullable().describe("For `after`. Null: this is the last page"),
    total: z.int().describe("How many there are"),
  })
  .meta({ id: "RunList" });
export type RunList = Shape<typeof runList>;
