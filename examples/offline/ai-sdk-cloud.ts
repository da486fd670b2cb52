// Stands in for `@ai-sdk/amazon-bedrock` and `@ai-sdk/google-vertex`, so that the example runs without an account: model objects of the
// AI SDK that answer from a script.

import type { LanguageModel } from "rlm-runtime";

interface CloudSettings {
  readonly region?: string;
  readonly project?: string;
  readonly location?: string;
}

type Cloud = (settings: CloudSettings) => (modelId: string) => LanguageModel;

const question = "```repl\nFINAL(llm_query('How many lines are in this?\\n' + context))\n```\n";

export const createAmazonBedrock: Cloud = () => (modelId) => answers("amazon-bedrock", modelId, question);

export const createVertex: Cloud = () => (modelId) => answers("google.vertex.chat", modelId, "three");

function answers(provider: string, modelId: string, text: string): LanguageModel {
  const usage = { inputTokens: { total: 900, cacheRead: 600, cacheWrite: 100 }, outputTokens: { total: 30 } };
  const parts = [
    { type: "text-delta", id: "1", delta: text },
    { type: "finish", finishReason: { unified: "stop", raw: "end_turn" }, usage },
  ];
  const doStream = async () => ({ stream: ReadableStream.from(parts) });
  return { specificationVersion: "v3", provider, modelId, doStream };
}
