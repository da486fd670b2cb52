// Starts shell commands.

import type { ShellOptions, Task } from "../../api/task.ts";
import { toTimeout } from "../times.ts";
import { randomId } from "../net/ids.ts";
import { RemoteTask } from "../work/task.ts";
import type { Server } from "./server.ts";

/** The default session of every server. */
const DEFAULT = "default";

/** The arguments are checked. */
export function startShell(
  { requests, orders }: Server,
  command: string,
  sessionId: string | undefined,
  { id = randomId("t"), cwd, env, timeoutMs, stdin, signal }: ShellOptions,
): Task {
  const body = { command, sessionId, cwd, env, timeoutMs: toTimeout(timeoutMs), stdin: toInput(stdin) };
  const inOrder = <Value>(send: () => Promise<Value>): Promise<Value> => orders.of(sessionId ?? DEFAULT).start(send);
  return new RemoteTask(requests, id, { body, signal, inOrder }) as unknown as Task;
}

function toInput(stdin: ShellOptions["stdin"]): unknown {
  if (typeof stdin !== "object" || "text" in stdin) return stdin;
  let binary = "";
  for (const byte of stdin.bytes) binary += String.fromCharCode(byte);
  return { base64: btoa(binary) };
}
