// Stands in for `@ai-sdk/google`, so that the example runs without a key: model objects of the AI SDK that answer from a script.

import type { LanguageModel } from "rlm-runtime";

const replies: Readonly<Record<string, string>> = {
  "gemini-2.5-pro": "```repl\nFINAL(llm_query('How many lines are in this?\\n' + context))\n```\n",
  "gemini-2.5-flash": "three",
};

export function google(modelId: string): LanguageModel {
  const usage = { inputTokens: { total: 900 }, outputTokens: { total: 30 } };
  const parts = [
    { type: "text-delta", id: "1", delta: replies[modelId] ?? "" },
    { type: "finish", finishReason: { unified: "stop", raw: "STOP" }, usage },
  ];
  const doStream = async () => ({ stream: ReadableStream.from(parts) });
  return { specificationVersion: "v3", provider: "google.generative-ai", modelId, doStream };
}
