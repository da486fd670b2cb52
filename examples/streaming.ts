import { openRuntime } from "rlm-runtime";

await using runtime = await openRuntime();
await using session = await runtime.openSession();

const execution = session.execute("import time\nfor i in range(3):\n    print('step', i)\n    time.sleep(0.1)\n'done'");
for await (const event of execution) {
  if (event.type === "output-delta") console.log(event.text.trimEnd());
}
console.log((await execution).text);
