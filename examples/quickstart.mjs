import { openRuntime } from "rlm-runtime";

const runtime = await openRuntime();
const session = await runtime.openSession();

await session.execute("import math\nradius = 3");
const area = await session.execute("math.pi * radius ** 2");
console.log(area.text);

const failed = await session.execute("radius / 0");
console.log(failed.status, failed.error?.name, failed.state);

const slow = await session.execute("while True: pass", { timeoutMs: 200 });
console.log(slow.status, slow.reason, slow.state);

await runtime.close();
