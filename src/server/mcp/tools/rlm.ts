// Recursive runs.

import { z } from "zod";
import { runQuery } from "../calls/run-query.ts";
import { workFacts } from "../output-schema.ts";
import { ArgumentsError } from "./arguments-error.ts";
import { ASKS, toolsIn, type MCPTool } from "./tool.ts";

const defineTool = toolsIn("rlm");
const MAX_DEPTH = 20;

export const RLM_TOOLS: readonly MCPTool[] = [
  defineTool("rlm_query", {
    title: "Ask over long material",
    description:
      "Have a model answer a question over material too long to read, with code and further models. It sees query and context alone, and costs money. After 30 s it goes on as a task.",
    input: {
      query: z.string(),
      context: z.string().optional().describe("the material"),
      path: z.string().optional().describe("a file in its place"),
      max_depth: z.int().min(0).max(MAX_DEPTH).optional(),
      token_budget: z.int().min(1).optional(),
    },
    annotations: ASKS,
    output: workFacts,
    call: async ({ query, context, path, max_depth: maxDepth, token_budget: tokenBudget }, call) => {
      if (context !== undefined && path !== undefined)
        throw new ArgumentsError("rlm_query takes one of context and path.");
      return runQuery(call, { query, context, path, maxDepth, tokenBudget });
    },
  }),
];
