// Functions that every session created later has.

import { z } from "zod";
import { limitLength } from "../render/result.ts";
import { stdlibFacts } from "../output-schema.ts";
import { ArgumentsError } from "./arguments-error.ts";
import { ADDS, toolsIn, READS, type MCPTool } from "./tool.ts";
import { joinParts } from "../render/format.ts";

const defineTool = toolsIn("sessions");

export const STDLIB_TOOLS: readonly MCPTool[] = [
  defineTool("add_to_stdlib", {
    title: "Keep functions",
    description: "Keep Python functions, so that every session created later has them.",
    input: { function_code: z.string() },
    annotations: ADDS,
    output: stdlibFacts,
    call: async ({ function_code: source }, { runtime }) => {
      if (source.trim() === "") throw new ArgumentsError("function_code holds nothing. Give the source of a function.");
      const names = await runtime.stdlib.add(source);
      const text = `Kept: ${names.join(", ") || "the code"}. Sessions created from now on have it.`;
      return { text: limitLength(text), facts: { names } };
    },
  }),
  defineTool("list_stdlib_functions", {
    title: "List kept functions",
    description: "What add_to_stdlib has kept.",
    input: {},
    annotations: READS,
    call: async (_, { runtime }) => {
      const { functions, modules, other } = await runtime.stdlib.list();
      const lines = functions.map(({ name, signature, doc }) => `${name}${signature}${doc === "" ? "" : `: ${doc}`}`);
      const text = joinParts(
        lines.join("\n"),
        modules.length === 0 ? "" : `modules: ${modules.join(", ")}`,
        other.length === 0 ? "" : `other: ${other.join(", ")}`,
      );
      return { text: limitLength(text) || "Nothing is kept yet. add_to_stdlib keeps functions." };
    },
  }),
];
