// Everything that a program does with the types of the package. It is compiled, never run.

import { createScriptedBackend, type Script } from "rlm-runtime/testing";
import { executionEventSchema, sessionInfoSchema, type ExecutionEvent, type Schema } from "rlm-runtime/protocol";
import {
  DEFAULT_LIMITS,
  RLMError,
  REPLExecutionError,
  defineTool,
  openRuntime,
  type AnswerData,
  type Backend,
  type ErrorCode,
  type LocalRuntime,
  type OkResult,
  type Result,
  type RunResult,
  type Runtime,
  type Session,
  type StandardSchema,
  type TaskResult,
} from "rlm-runtime";

/** Fails to compile unless both types are the same. */
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const same = <A, B>(_: Same<A, B>): void => {};

export async function awaitsAnExecution(session: Session): Promise<string> {
  const execution = session.execute("1 + 1", { id: "x-1", timeoutMs: null });
  const id: string = execution.id;
  const result = await execution;
  same<typeof result, Result>(true);
  await execution.cancel();
  const ok = await execution.then((one) => one.unwrap()).finally(() => {});
  same<typeof ok, OkResult>(true);
  return id + (result.text ?? "");
}

export function narrowsByStatus(result: Result): string {
  switch (result.status) {
    case "ok":
      return result.value?.["text/plain"] ?? "";
    case "error":
      return result.error.name + (result.incomplete === true ? " (incomplete)" : "");
    case "interrupted":
      return result.reason + (result.error?.traceback ?? "");
    case "exit":
      return result.exitCode.toFixed();
    default:
      return result satisfies never;
  }
}

export async function iteratesEvents(session: Session): Promise<string> {
  let printed = "";
  for await (const event of session.execute("print(1)")) {
    if (event.type === "output-delta") printed += event.text;
    if (event.type === "execution-end") printed += event.result.durationMs;
  }
  for await (const piece of session.files.readStream("a.txt", { offset: 1 })) printed += piece.length;
  return printed;
}

export async function disposes(): Promise<void> {
  await using runtime = await openRuntime({ limits: { memoryBytes: DEFAULT_LIMITS.memoryBytes } });
  await using session = await runtime.openSession();
  using subscription = session.subscribe((event) => void event.seq);
  await subscription.ready;
  await session.files.write("a.bin", new Uint8Array(3));
}

export function acceptsEveryRuntime(local: LocalRuntime): Runtime {
  return local;
}

export async function readsVariables(session: Session): Promise<[unknown, string, Uint8Array]> {
  await session.set("a", { json: [1, 2] });
  await session.set("b", { stream: pieces(), as: "text" });
  return [await session.get("a"), await session.get("b", { as: "text" }), await session.get("c", { as: "bytes" })];
}

async function* pieces(): AsyncGenerator<string | Uint8Array> {
  yield "one";
  yield new Uint8Array(2);
}

export async function runsCommands(runtime: Runtime): Promise<TaskResult> {
  const task = runtime.shell("ls", { stdin: { text: "x" } });
  if (!(await task.wait(1000))) await task.cancel();
  const found = runtime.tasks.get(task.id);
  for await (const event of found) if (event.type === "task-end") break;
  return found;
}

interface Person {
  readonly name: string;
}

export async function typesAnswers(runtime: LocalRuntime, person: StandardSchema<Person>): Promise<void> {
  const rlm = runtime.rlm({ model: "m", backend: createScriptedBackend(["FINAL(1)"]) });
  const plain = await rlm.run({ query: "?" });
  same<typeof plain, RunResult<unknown>>(true);
  const json = await rlm.run({ query: "?", schema: { type: "object", properties: { name: { type: "string" } } } });
  same<typeof json.data, unknown>(true);
  const typed = await rlm.run({ query: "?", schema: person });
  const data: Person | undefined = typed.data;
  same<AnswerData<StandardSchema<Person>>, Person>(true);
  // What the model wrote, not what the schema would make of it.
  type Transforming = { "~standard": { version: 1; vendor: "x"; types?: { input: string; output: number } } };
  same<AnswerData<Transforming>, string>(true);
  void data?.name;
}

export function switchesOverCodes(error: RLMError): string {
  const { code } = error;
  switch (code) {
    case "EXECUTION_FAILED":
    case "SECURITY":
    case "FILE":
    case "SESSION_STATE":
    case "STDLIB":
    case "ENVIRONMENT_UNAVAILABLE":
    case "SESSION_BUSY":
    case "SESSION_NOT_FOUND":
    case "SESSION_EXISTS":
    case "SESSION_CLOSED":
    case "EXECUTION_NOT_FOUND":
    case "TASK_NOT_FOUND":
    case "TASK_STATE":
    case "RUN_NOT_FOUND":
    case "VARIABLE_NOT_FOUND":
    case "ID_REUSED":
    case "FORK_REFUSED":
    case "CAPABILITY_MISSING":
    case "LIMIT_EXCEEDED":
    case "INSPECTION_FAILED":
    case "WORKER_LOST":
    case "MAX_DEPTH_EXCEEDED":
    case "TOKEN_BUDGET_EXHAUSTED":
    case "TOOL_BUDGET_EXHAUSTED":
    case "PRICE_UNKNOWN":
    case "TOOL_NOT_FOUND":
    case "CONFIGURATION":
    case "BACKEND":
    case "SERVER_CONNECTION":
    case "SERVER_REFUSED":
      return code;
    default:
      return code satisfies never;
  }
}

export function catches(error: unknown): ErrorCode | undefined {
  if (error instanceof REPLExecutionError) return error.sessionAlive ? error.code : undefined;
  return error instanceof RLMError ? error.code : undefined;
}

export function definesTools(): unknown {
  const schema: { _zod: { output: { a: number }; input: unknown } } = { _zod: { output: { a: 1 }, input: null } };
  return defineTool({
    name: "add",
    description: "adds",
    schema,
    handler: ({ a }, { signal }) => (signal.aborted ? null : a.toFixed()),
  });
}

export function answersAsABackend(script: Script): Backend {
  const own: Backend = {
    name: "own",
    async *stream({ messages }, { signal }) {
      signal.throwIfAborted();
      yield { type: "text-delta", text: messages[0]?.content ?? "" };
      yield { type: "end", finishReason: "stop", usage: null };
    },
  };
  return Math.random() > 0.5 ? own : createScriptedBackend(script);
}

export function checksData(data: unknown): ExecutionEvent | string {
  const checked = executionEventSchema.safeParse(data);
  const other: Schema<ExecutionEvent> = executionEventSchema;
  const standard: StandardSchema<ExecutionEvent> = other;
  if (checked.success) return checked.data;
  return sessionInfoSchema.parse(data).id + checked.error.issues[0]?.message + standard["~standard"].vendor;
}
