// A session of a server: state, an idempotent retry, a stream that is left and read again.

import { connectRuntime } from "rlm-runtime/client";

const { RLM_URL: url = "http://127.0.0.1:8000", RLM_TOKEN: token = "" } = process.env;
await using runtime = await connectRuntime({ url, token });
await using session = await runtime.openSession();

// Executions share state.
await session.execute("import math\nradius = 3");
const area = await session.execute("math.pi * radius ** 2");
console.log(area.status, area.text);

// The same id is the same work: the code runs once, however often it is sent.
const id = crypto.randomUUID();
const [first, second] = await Promise.all([
  session.execute("radius += 1; radius", { id }),
  session.execute("radius += 1; radius", { id }),
]);
console.log(first.text, second.text);

// Streamed output. This reader leaves after the first event; the code continues, and no output is lost.
const code = "import time\nfor n in range(3):\n    print(n, flush=True)\n    time.sleep(0.1)";
const execution = session.execute(code);
for await (const { type } of execution) if (type === "execution-start") break;
let printed = "";
for await (const event of runtime.executions.get(execution.id))
  if (event.type === "output-delta") printed += event.text;
console.log(JSON.stringify(printed));
