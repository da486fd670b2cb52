// Names in the session of a node that are ours, as `python/worker/rlm/session.py` has them.

/** Restored before each block of code. */
export const RESERVED_NAMES: ReadonlySet<string> = new Set(
  (
    "llm_query llm_query_batched llm_query_async llm_query_batched_async rlm_query rlm_query_batched rlm_query_async " +
    "rlm_query_batched_async SHOW_VARS FINAL FINAL_VAR SUBMIT LLMError LimitError FailedCall _out _history"
  ).split(" "),
);

/** Defined at first; code may replace them. */
export const INITIAL_NAMES: ReadonlySet<string> = new Set(
  "budget chunk grep peek map_query reduce_query context rlm_answers rlm_batches rlm_blocks rlm_child_contexts rlm_context rlm_final rlm_session rlm_shapes rlm_texts rlm_totals rlm_host".split(
    " ",
  ),
);
