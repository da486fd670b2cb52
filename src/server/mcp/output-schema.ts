// The fields of structured results, in snake_case, and their JSON Schemas. The fields come from the schemas of protocol/.
//
// Each tool names the schema of its facts. Values are typed by it, and what clients are told is made from it.

import { z } from "zod";
import { addAnswer } from "../../protocol/api/stdlib.ts";
import { capabilities } from "../../protocol/capabilities.ts";
import { commonFields, executionError, executionStatus, interruptReason, usage } from "../../protocol/execution.ts";
import { runResult, runStatus } from "../../protocol/runs.ts";
import { savedState } from "../../protocol/session-manifest.ts";
import { sessionInfo, stdlibState } from "../../protocol/sessions.ts";
import type { Shape } from "../../protocol/shape.ts";
import { taskInfo, taskStatus } from "../../protocol/tasks.ts";
import { modelUsage } from "../../protocol/usage.ts";
import { inspectedVariable, variableList } from "../../protocol/variables.ts";

const { id: taskId, exitCode, kind, outputBytes } = taskInfo.shape;
const { sessionId, executionId, epoch, state, stdout, stderr } = commonFields;
const { tokens, estimatedTokens, costUsd, llmCalls } = modelUsage.shape;
const { environment, tier } = sessionInfo.shape;
const { createdAt, lastExecutedAt, executionCount, variableCount, memoryBytes } = sessionInfo.shape;
const count = z.int();

/** Of something that ran: an execution, a task or a run. */
export const workFacts = toFacts({
  sessionId: sessionId.describe("Absent for a run").nullable(),
  runId: runResult.shape.runId,
  tokens,
  estimatedTokens,
  costUsd,
  llmCalls,
  stopReason: runResult.shape.stopReason,
  taskId: taskId.describe("For shell_status").nullable(),
  kind,
  executionId,
  exitCode,
  reason: interruptReason,
  epoch,
  state,
  durationMs: count,
  cpuMs: count.describe(usage.shape.cpuMs.description ?? ""),
  peakMemoryBytes: usage.shape.peakMemoryBytes,
  stdout,
  stderr,
  stdoutBytes: count,
  stderrBytes: count,
  outputBytes,
  value: z.string().describe("The last expression"),
  error: z.object(executionError.shape),
  truncated: z.boolean(),
  offset: count,
  nextOffset: count.nullable(),
  totalBytes: count,
}).extend({ status: z.enum([...executionStatus.options, ...taskStatus.options, ...runStatus.options]) });
export type WorkFacts = Shape<typeof workFacts>;

export const sessionFacts = toFacts({
  sessionId,
  environment,
  tier,
  capabilities: toFacts(capabilities.shape),
  state: sessionInfo.shape.state,
  stdlibLoaded: stdlibState.shape.loaded,
  createdAt,
  lastExecutedAt,
  executionCount,
  epoch,
  variableCount,
  memoryBytes,
});
export type SessionFacts = Shape<typeof sessionFacts>;

export const sessionListFacts = toFacts({ sessions: z.array(sessionFacts) });
export type SessionListFacts = Shape<typeof sessionListFacts>;

/** Of a session file that was saved or loaded. */
export const sessionFileFacts = toFacts({
  sessionId,
  path: z.string(),
  sizeBytes: count,
  names: savedState.shape.names,
  nameCount: count,
  skipped: savedState.shape.skipped,
  skippedCount: count,
});
export type SessionFileFacts = Shape<typeof sessionFileFacts>;

export const variableFacts = toFacts({
  sessionId,
  variableCount: variableList.shape.total,
  name: inspectedVariable.shape.name,
  type: inspectedVariable.shape.type,
});
export type VariableFacts = Shape<typeof variableFacts>;

export const stdlibFacts = toFacts(addAnswer.shape);
export const noFacts = toFacts({});

type SnakeCase<Name> = Name extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `_${Lowercase<First>}`}${SnakeCase<Rest>}`
  : "";
type Facts<Fields> = { [Name in keyof Fields as SnakeCase<Name>]: z.ZodOptional<Fields[Name] & z.ZodType> };

/** Every field is optional: which ones there are depends on what happened. */
function toFacts<Fields extends Record<string, z.ZodType>>(fields: Fields): z.ZodObject<Facts<Fields>> {
  const renamed = Object.entries(fields).map(([name, field]) => [
    name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
    field.optional(),
  ]);
  return z.object(Object.fromEntries(renamed)) as unknown as z.ZodObject<Facts<Fields>>;
}

/** As for `toStructured`: with the text, and fields without a value left out. */
export function toOutputSchema(facts: z.ZodObject): object {
  const text = z.string().describe("The same as the text content");
  const fields = Object.entries(facts.shape).map(([name, field]) => {
    const present = toPresent(field);
    return [name, present === field ? present : z.optional(present)];
  });
  const { $schema: _dialect, ...schema } = z.toJSONSchema(z.object({ text, ...Object.fromEntries(fields) }), {
    io: "input",
    override: ({ jsonSchema }) => {
      // The range of all integers in JSON and the pattern of a date are not worth the tokens.
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
      delete jsonSchema.pattern;
    },
  });
  return schema;
}

function toPresent(field: z.core.$ZodType): z.core.$ZodType {
  const isAbsentable =
    field instanceof z.ZodOptional || field instanceof z.ZodExactOptional || field instanceof z.ZodNullable;
  return isAbsentable ? toPresent(field.unwrap()) : field;
}
