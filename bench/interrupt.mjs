// E. Control: how soon does an endless loop stop when asked?

import { openBenchRuntime } from "./lib/runtime.mjs";
import { within } from "./lib/processes.mjs";
import { median } from "./lib/stats.mjs";

export async function measure({ quick, row }) {
  const runtime = await openBenchRuntime({ poolSize: 0 });
  const session = await runtime.openSession();
  const times = [];
  for (let index = 0; index < (quick ? 20 : 50); index += 1) {
    const execution = session.execute("while True: pass");
    await new Promise((resolve) => setTimeout(resolve, 10 + Math.random() * 60));
    const begin = performance.now();
    session.interrupt();
    const { status } = await within(5000, "an interrupt", execution.result);
    times.push(performance.now() - begin);
    if (status !== "interrupted") throw new Error(`the loop ended with ${status}`);
  }
  const aim = { below: 10 };
  row({ question: "Endless loop to `interrupted`: median", ours: { best: median(times), unit: "ms" }, aim });
  row({ question: `Endless loop: longest of ${times.length}`, ours: { best: Math.max(...times), unit: "ms" }, aim });
}
