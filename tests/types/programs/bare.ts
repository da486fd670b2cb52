// Compiled as `tsc --noEmit bare.ts`, without any configuration, by every version of TypeScript that we support.

import { openRuntime, RLMError, type Execution, type Session } from "rlm-runtime";
import { connectRuntime } from "rlm-runtime/client";
import { sessionInfoSchema } from "rlm-runtime/protocol";
import { createScriptedBackend } from "rlm-runtime/testing";

export async function ask(session: Session, signal: Execution["id"]): Promise<string | undefined> {
  const result = await session.execute("1 + 1", { id: signal });
  return result.status === "ok" ? result.text : undefined;
}

export async function connect(token: string): Promise<void> {
  const runtime = await connectRuntime({ url: "http://127.0.0.1:8000", token, fetch: undefined });
  await runtime.close();
}

export async function open(): Promise<number> {
  const runtime = await openRuntime({ poolSize: 0 });
  try {
    const { items } = await runtime.sessions.list();
    runtime.rlm({ model: "m", backend: createScriptedBackend(["FINAL(1)"]) });
    return items.length + sessionInfoSchema.parse(items[0]).executionCount;
  } catch (error) {
    if (error instanceof RLMError && error.code === "SESSION_BUSY") return 0;
    throw error;
  } finally {
    await runtime.close();
  }
}
