// The client: the same interfaces, and the same classes of errors.

import { connectRuntime } from "rlm-runtime/client";
import { openRuntime, type Runtime } from "rlm-runtime";

export async function acceptsBoth(): Promise<string | undefined> {
  const remote: Runtime = await connectRuntime({ url: "http://127.0.0.1:8080", token: "t" });
  const local: Runtime = await openRuntime();
  return use(Math.random() > 0.5 ? remote : local);
}

async function use(runtime: Runtime): Promise<string | undefined> {
  await using session = await runtime.openSession();
  return (await session.execute("1 + 1")).text;
}
