import { fileURLToPath } from "node:url";
import { defineTool, executeCode, fileRead, openRuntime } from "rlm-runtime";
import { z } from "zod";
import { chooseModel } from "./offline/model.ts";
import { playTools } from "./offline/play-tools.ts";

const stock = defineTool({
  name: "stock",
  description: "How many of an item there are in a warehouse.",
  schema: z.object({ item: z.string().describe("in the singular"), place: z.enum(["Oslo", "Rome"]).default("Oslo") }),
  handler: ({ item, place }) => ({ item, place, count: item.length * place.charCodeAt(0) }),
});

await using runtime = await openRuntime();
const shop = fileURLToPath(new URL("offline/shop", import.meta.url));
const rlm = runtime.rlm({
  ...chooseModel(playTools),
  tools: [stock, fileRead([shop]), executeCode((code, options) => runtime.execute(code, options))],
  limits: { toolCalls: 20 },
});
const run = rlm.run({ query: "Try your tools, and tell how many chairs there are in Rome." });
for await (const event of run) {
  if (event.type === "code-end" && event.result.stdout) console.log(`${event.nodeId}: ${event.result.stdout.trim()}`);
}
const { answer, usage } = await run;
console.log(answer, usage.total.toolCalls);
