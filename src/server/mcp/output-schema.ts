// What structured results look like, for clients that want JSON beside the text.

const TEXT = { type: "string" } as const;
const NULLABLE_COUNT = { type: ["integer", "null"] } as const;
const NULLABLE_TEXT = { type: ["string", "null"] } as const;

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
    session_id: TEXT,
    execution_id: TEXT,
    task_id: { ...NULLABLE_TEXT, description: "for shell_status" },
    exit_code: NULLABLE_COUNT,
    duration_ms: { type: "integer" },
    stdout: TEXT,
    stderr: TEXT,
    stdout_bytes: { type: "integer" },
    stderr_bytes: { type: "integer" },
    value: { ...NULLABLE_TEXT, description: "the last expression" },
    error: { type: ["object", "null"] },
    truncated: { type: "boolean" },
    epoch: { type: "integer" },
    state: { ...TEXT, description: "what became of the variables: kept, restored, lost" },
  },
  required: ["text", "status", "session_id"],
} as const;

export function toOutputSchema(runs: boolean): typeof RUN | typeof ANSWER {
  return runs ? RUN : ANSWER;
}
