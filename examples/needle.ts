import { openRuntime } from "rlm-runtime";
import { chooseModel } from "./offline/model.ts";
import { playNeedle } from "./offline/play-needle.ts";

// Ten megabytes, of which one line matters.
const lines = Array.from(
  { length: 200_000 },
  (_, n) => `Day ${n}: ${(n * 37) % 90} ships at pier ${(n * 11) % 8}, wind from the west`,
);
lines[123_456] = "Day 123456: they painted the number 8117 on the door of the lighthouse";

await using runtime = await openRuntime();
const run = runtime.rlm(chooseModel(playNeedle)).run({
  query: "Which number is on the door of the lighthouse?",
  context: lines.join("\n"),
});
for await (const event of run) {
  if (event.type === "code-start") console.log(event.code.replaceAll(/^/gm, ">>> "));
  if (event.type === "code-end") show(event.result);
  if (event.type === "node-end") console.log(`${event.status}: ${event.answer}`);
}
function show({ stdout, value }: { stdout: string; value?: Readonly<Record<string, string>> }): void {
  if (stdout !== "") console.log(stdout.trimEnd());
  if (value !== undefined) console.log(value["text/plain"]);
}

const { total } = (await run).usage;
console.log(`${total.llmCalls} calls, ${total.tokens < 10_000 ? "less" : "more"} than 10,000 tokens`);
