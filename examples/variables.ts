import { openRuntime, VariableNotFoundError } from "rlm-runtime";

await using runtime = await openRuntime();
await using session = await runtime.openSession();

async function* lines(): AsyncGenerator<string> {
  for (let n = 1; n <= 3; n += 1) yield `line ${n}\n`;
}

await session.set("prices", { json: { apple: 3, pear: 4 } });
await session.set("log", { stream: lines(), as: "text" }); // of any size, with backpressure
await session.execute("total = sum(prices.values())\nlast = log.splitlines()[-1]\nraw = last.encode()");

const total = await session.get("total"); // as JSON: unknown
const last = await session.get("last", { as: "text" }); // string
const raw = await session.get("raw", { as: "bytes" }); // Uint8Array
console.log(total, last, raw.length);

await session.get("nothing").catch((error: unknown) => console.log(error instanceof VariableNotFoundError));
