import { openRuntime, RLMError, type ErrorCode } from "rlm-runtime";

await using runtime = await openRuntime();

/** Typed, so that a misspelt code does not compile. */
const later: ReadonlySet<ErrorCode> = new Set<ErrorCode>(["SESSION_BUSY", "LIMIT_EXCEEDED", "WORKER_LOST"]);

try {
  await runtime.sessions.get("nowhere");
} catch (error) {
  if (!(error instanceof RLMError)) throw error; // a mistake in calling the API, or a fault of ours
  console.log(error.code, later.has(error.code) ? "try again" : "give up");
}

// An option that does not exist is refused at once, before anything starts.
try {
  await runtime.execute("1 + 1", { timeoutMS: 5 } as object);
} catch (error) {
  console.log(String(error));
}
