import { openRuntime } from "rlm-runtime";
import { google } from "./offline/ai-sdk-google.ts"; // in your program: from "@ai-sdk/google"

await using runtime = await openRuntime();
const rlm = runtime.rlm({
  model: google("gemini-2.5-pro"),
  subModel: google("gemini-2.5-flash"), // answers llm_query
  limits: { costUsd: 1 },
});
const result = await rlm.run({ query: "How many lines are there?", context: "one\ntwo\nthree\n", mode: "rlm" });
console.log(result.answer, Object.keys(result.usage.byModel).join(", "));
