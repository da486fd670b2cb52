// Names in the session of a node that are ours, as `python/worker/rlm_session.py` has them.

/** What has these names is put back before each block of code. */
const RESERVED: ReadonlySet<string> = new Set(
  (
    "llm_query llm_query_batched llm_query_async llm_query_batched_async rlm_query rlm_query_batched rlm_query_async " +
    "rlm_query_batched_async SHOW_VARS FINAL FINAL_VAR SUBMIT LLMError LimitError _out"
  ).split(" "),
);
const KEYWORDS: ReadonlySet<string> = new Set(
  (
    "False None True and as assert async await break class continue def del elif else except finally for from global if " +
    "import in is lambda nonlocal not or pass raise return try while with yield __debug__"
  ).split(" "),
);
const IDENTIFIER = /^[\p{XID_Start}_]\p{XID_Continue}*$/u;

/** Throws a RangeError for what cannot be a variable of the context. */
export function checkVariableName(name: string): void {
  if (!IDENTIFIER.test(name) || KEYWORDS.has(name))
    throw new RangeError(`Cannot name a variable of the context '${name.slice(0, 80)}': give a Python identifier`);
  if (RESERVED.has(name))
    throw new RangeError(`Cannot name a variable of the context '${name}': runs have a function of this name`);
}
