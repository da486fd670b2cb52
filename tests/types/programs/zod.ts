// Answers and arguments typed by schemas of zod 4.

import { z } from "zod";
import { defineTool, type LocalRuntime } from "rlm-runtime";

const person = z.object({ name: z.string(), age: z.number().optional() });

export async function typesAnswers(runtime: LocalRuntime): Promise<string | undefined> {
  const { data } = await runtime.rlm({ model: "m" }).run({ query: "Who?", schema: person });
  const exact: { name: string; age?: number | undefined } | undefined = data;
  // @ts-expect-error: there is no such field
  void data?.size;
  return exact?.name;
}

export const tool = defineTool({
  name: "greet",
  description: "greets",
  schema: person,
  handler: ({ name, age }) => name.toUpperCase() + (age?.toFixed() ?? ""),
});
