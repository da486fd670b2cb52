// What structured results look like, for clients that want JSON beside the text.

const TEXT = { type: "string" } as const;
const COUNT = { type: "integer" } as const;

/** Of what every tool answers: the text, and facts that depend on the tool. */
const ANSWER = { type: "object", properties: { text: TEXT }, required: ["text"] } as const;

/** Of what ran, or runs. */
const RUN = {
  type: "object",
  properties: {
    text: { ...TEXT, description: "what the text content says" },
    status: {
      ...TEXT,
      description: "ok, error, interrupted, exit; of a task: running, completed, failed, cancelled, …",
    },
    session_id: { ...TEXT, description: "of a run there is none" },
    run_id: TEXT,
    tokens: COUNT,
    estimated_tokens: { ...COUNT, description: "how many of them are a guess" },
    cost_usd: { type: "number" },
    llm_calls: COUNT,
    stop_reason: TEXT,
    execution_id: TEXT,
    task_id: { ...TEXT, description: "for shell_status" },
    exit_code: COUNT,
    duration_ms: COUNT,
    cpu_ms: COUNT,
    peak_memory_bytes: COUNT,
    stdout: TEXT,
    stderr: TEXT,
    stdout_bytes: COUNT,
    stderr_bytes: COUNT,
    value: { ...TEXT, description: "the last expression" },
    error: { type: "object", properties: { name: TEXT, value: TEXT, traceback: TEXT } },
    truncated: { type: "boolean" },
    epoch: COUNT,
    state: { ...TEXT, description: "what became of the variables: kept, restored, lost" },
  },
  required: ["text", "status"],
} as const;

export function toOutputSchema(runs: boolean): typeof RUN | typeof ANSWER {
  return runs ? RUN : ANSWER;
}
