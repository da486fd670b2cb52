import { openRuntime } from "rlm-runtime";

await using runtime = await openRuntime();
await using session = await runtime.openSession();

// One signal for everything that one request of a user started.
const controller = new AbortController();
const { signal } = controller;
const execution = session.execute("kept = 1\nprint('busy')\nwhile True: pass", { signal });
const queued = session.execute("kept = 2", { signal });
const task = session.shell("sleep 1000", { signal });
for await (const { type } of execution) if (type === "output-delta") controller.abort();

const { status, state } = await execution;
console.log(status, state);
console.log((await queued).status, (await task).status);
console.log(await session.get("kept"));
