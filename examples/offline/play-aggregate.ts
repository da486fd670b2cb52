// A script for sorting many records: the root splits them into chunks, and sub-models read one chunk each.

import type { BackendRequest } from "rlm-runtime";
import { block, whereIs } from "./model.ts";

const SPLIT = `records = context.splitlines()
pieces = ["\\n".join(records[n:n + 50]) for n in range(0, len(records), 50)]
counts = {"type": "object", "properties": {k: {"type": "integer"} for k in ("billing", "delivery", "other")}}
answers = llm_query_batched(
    [f"How many of these letters are about billing, how many about delivery, how many about anything else?\\n\\n{piece}" for piece in pieces],
    schema=counts,
)
print(len(pieces), "pieces,", sum(a.ok for a in answers), "answers, the first:", answers[0].data)`;

const ADD = `total = {k: sum(a.data[k] for a in answers) for k in answers[0].data}
assert sum(total.values()) == len(records), "a letter was counted twice, or not at all"
SUBMIT(**total)`;

export function playAggregate(request: BackendRequest): string {
  const { asked, step } = whereIs(request);
  if (asked.startsWith("How many of these letters")) return JSON.stringify(read(asked));
  return block(step === 0 ? SPLIT : ADD);
}

function read(prompt: string): Record<string, number> {
  const letters = prompt.split("\n").filter((line) => line.startsWith("Letter "));
  const billing = letters.filter((line) => /charged|invoice/.test(line)).length;
  const delivery = letters.filter((line) => /parcel|courier/.test(line)).length;
  return { billing, delivery, other: letters.length - billing - delivery };
}
