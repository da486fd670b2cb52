import { IdReusedError, openRuntime } from "rlm-runtime";

await using runtime = await openRuntime();
await using session = await runtime.openSession();
await session.execute("count = 0");

// The same id is the same work: the code runs once, and both get the same result.
const id = "order-4711";
const first = await session.execute("count += 1; count", { id });
const again = await session.execute("count += 1; count", { id });
console.log(first.text, again.text, (await runtime.executions.get(id)).text);

// Other code with this id is refused.
await session.execute("count = 0", { id }).catch((error: unknown) => console.log(error instanceof IdReusedError));
