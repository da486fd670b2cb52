import { openRuntime } from "rlm-runtime";
// In your program: from "@ai-sdk/amazon-bedrock" and "@ai-sdk/google-vertex".
import { createAmazonBedrock, createVertex } from "./offline/ai-sdk-cloud.ts";

const bedrock = createAmazonBedrock({ region: "us-east-1" });
const vertex = createVertex({ project: "my-project", location: "global" });

await using runtime = await openRuntime();
const rlm = runtime.rlm({
  model: bedrock("us.anthropic.claude-sonnet-4-5-20250929-v1:0"),
  subModel: vertex("gemini-2.5-flash"),
  limits: { costUsd: 1 },
});
const result = await rlm.run({ query: "How many lines are there?", context: "one\ntwo\nthree\n", mode: "rlm" });
const { costUsd, cacheReadTokens } = result.usage.total;
console.log(result.answer, (costUsd ?? 0).toFixed(4), "USD,", cacheReadTokens, "tokens from caches");
