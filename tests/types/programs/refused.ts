// Attempts to reach the inside through the types. Each line that ends with error codes must fail with one of them, and no other line may.

import * as api from "rlm-runtime";
import type { Execution, LocalRuntime, LocalSession, Run, Runtime, Session, SessionId, Task } from "rlm-runtime";
import type * as deep from "rlm-runtime/dist/index.js"; // TS2307
import type { Session as Inner } from "rlm-runtime/dist/types/session/session.js"; // TS2307
import type { Api } from "rlm-runtime/dist/types/api/session.d.ts"; // TS2307 TS2846
import type { Source } from "rlm-runtime/src/index.ts"; // TS2307
import type { Worker } from "rlm-runtime/dist/types/protocol/worker/worker-events.js"; // TS2307

export type Unused = [typeof deep, Inner, Api, Source, Worker];

export function reachesRuns(run: Run): void {
  run.teller; // TS2339
  run.root; // TS2339
  run.result; // TS2339
}

export async function reachesSessions(session: Session, local: LocalSession): Promise<void> {
  session.relieve(); // TS2339
  session.freeMemory(); // TS2339
  session.tasks; // TS2339
  session.kernel; // TS2339
  session.discard(); // TS2339
  session.save("a.rlm"); // TS2339
  local.relieve(); // TS2339
  local.epoch; // TS2339
  session.id = "s1" as SessionId; // TS2540
}

export function reachesExecutions(execution: Execution, task: Task): void {
  execution.onCancel(() => {}); // TS2339
  execution.settle(); // TS2339
  execution.printed; // TS2339
  execution.transcript; // TS2339
  task.start(); // TS2339
  task.adopt(); // TS2339
}

export function reachesRuntimes(runtime: Runtime, local: LocalRuntime, execution: Execution): void {
  runtime.runs.add(execution); // TS2339
  runtime.sessions.add(execution); // TS2339
  runtime.tasks.adopt(execution); // TS2339
  runtime.executions.add(execution); // TS2339
  local.environments; // TS2339
  runtime.warm(); // TS2339
  runtime.loadSession("a.rlm"); // TS2339
  new api.Runtime({}); // TS2339 TS2693 TS18042
  new api.LocalRuntime({}); // TS2339 TS2693
  new api.Session({}); // TS2339 TS2693
  new api.ScriptedBackend([]); // TS2339
  new api.RLMError("x"); // TS2511
  api.parseSessionId("x"); // TS2339
}

export function usesUnknownOptions(runtime: LocalRuntime, session: Session): void {
  void session.execute("1", { timeout: 5 }); // TS2353
  void session.execute("1", { receiver: null }); // TS2353
  void runtime.openSession({ colour: "red" }); // TS2353
  void session.get("a", { as: "yaml" }); // TS2769
}
