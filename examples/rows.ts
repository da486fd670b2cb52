import { openRuntime } from "rlm-runtime";

await using runtime = await openRuntime();
await using session = await runtime.openSession();

await session.execute("stock = {'apple': 3, 'pear': 12, 'fig': 7}");
const part = await session.rows("stock", { count: 2, sortBy: 0, descending: true });
console.log(part?.total, part?.index, part?.rows);
