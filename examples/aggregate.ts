import { openRuntime } from "rlm-runtime";
import { chooseModel } from "./offline/model.ts";
import { playAggregate } from "./offline/play-aggregate.ts";

// A search cannot tell what these letters are about: a model has to read each of them.
const phrases = [
  "you have charged me twice for the same lamp",
  "the parcel lies in front of a door that is not mine",
  "I just wanted to say that I like the new catalogue",
  "why does the invoice have the name of my neighbour on it",
  "the courier came when nobody was at home, as always",
];
const letters = Array.from({ length: 3_000 }, (_, n) => `Letter ${n + 1}: ${phrases[(n * n + n) % phrases.length]}`);

await using runtime = await openRuntime();
const run = runtime.rlm({ ...chooseModel(playAggregate), limits: { tokens: 400_000, llmCalls: 200 } }).run({
  query: "How many letters are about billing, how many about delivery, how many about something else?",
  context: letters.join("\n"),
  schema: {
    type: "object",
    properties: { billing: { type: "integer" }, delivery: { type: "integer" }, other: { type: "integer" } },
    required: ["billing", "delivery", "other"],
  },
});
for await (const event of run)
  if (event.type === "code-end" && event.result.stdout) console.log(event.result.stdout.trim());

const { status, data, usage } = await run;
console.log(status, JSON.stringify(data), `${usage.total.llmCalls} calls`);
