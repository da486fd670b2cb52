import { readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { openRuntime } from "rlm-runtime";
import { chooseModel } from "./offline/model.ts";
import { playCodeBase } from "./offline/play-code-base.ts";

// Any folder will do; in the session the files are a dict from name to text.
const folder = fileURLToPath(new URL("offline/shop/", import.meta.url));
const files = readdirSync(folder).map((name) => ({ name, path: folder + name }));

await using runtime = await openRuntime();
const run = runtime.rlm(chooseModel(playCodeBase)).run({
  query: "A customer of six years buys a table. What do they pay, and which rule decides it?",
  context: { files },
});
for await (const event of run) {
  const under = "nodeId" in event && event.nodeId !== "n0" ? "  " : "";
  if (event.type === "node-start") console.log(`${under}${event.nodeId}: ${event.query}`);
  if (event.type === "code-start") console.log(event.code.replaceAll(/^/gm, `${under}>>> `));
  if (event.type === "node-end") console.log(`${under}${event.nodeId}: ${event.answer}`);
}
const { status, usage } = await run;
const calls = Object.entries(usage.byNode).map(([id, { llmCalls }]) => `${id} ${llmCalls} calls`);
console.log(`${status}: ${calls.join(", ")}`);
