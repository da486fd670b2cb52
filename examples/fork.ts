import { openRuntime } from "rlm-runtime";

await using runtime = await openRuntime();
const session = await runtime.openSession({ autoCheckpoint: true });
const show = async (one: typeof session, code: string) => console.log(one.id, (await one.execute(code)).text);

await session.execute("squares = (n * n for n in range(100)); seen = [next(squares)]");

// A live copy: even the generator continues independently in both.
const fork = await session.fork({ id: "what-if" });
await show(fork, "seen + [next(squares), next(squares)]");
await show(session, "seen + [next(squares)]");

// Return to a checkpoint, even after the process has died.
const checkpoint = await session.checkpoint();
const { state } = await session.execute("import os; os._exit(1)");
console.log(state);
await session.rewind(checkpoint);
await show(session, "next(squares)");

// Undo the last execution.
await session.execute("seen.clear()");
await session.undo();
await show(session, "seen");
