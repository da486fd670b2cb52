// JSON Schemas of structured results, for clients that want JSON next to the text.

import { z } from "zod";
import { executionError, stateAfter } from "../../protocol/execution.ts";

const answer = z.object({ text: z.string() });

/** Of tools that run something. Fields without a value are left out. */
const runAnswer = z.object({
  text: z.string().describe("The same as the text content"),
  status: z.string().describe("ok, error, interrupted, exit; of a task: running, completed, failed, cancelled, …"),
  session_id: z.string().optional().describe("Absent for a run"),
  run_id: z.string().optional(),
  tokens: z.int().optional(),
  estimated_tokens: z.int().optional().describe("How many of the tokens are estimated"),
  cost_usd: z.number().optional(),
  llm_calls: z.int().optional(),
  stop_reason: z.string().optional(),
  execution_id: z.string().optional(),
  task_id: z.string().optional().describe("For shell_status"),
  exit_code: z.int().optional(),
  duration_ms: z.int().optional(),
  cpu_ms: z.int().optional(),
  peak_memory_bytes: z.int().optional(),
  stdout: z.string().optional(),
  stderr: z.string().optional(),
  stdout_bytes: z.int().optional(),
  stderr_bytes: z.int().optional(),
  value: z.string().optional().describe("The last expression"),
  error: z.object(executionError.shape).optional(),
  truncated: z.boolean().optional(),
  epoch: z.int().optional(),
  state: stateAfter.optional(),
});

export function toOutputSchema(runs: boolean): object {
  const { $schema: _dialect, ...schema } = z.toJSONSchema(runs ? runAnswer : answer, {
    io: "input",
    override: ({ jsonSchema }) => {
      // The range of all integers in JSON is not worth the tokens.
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
    },
  });
  return schema;
}
