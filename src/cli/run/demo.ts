// `rlm run --demo`: a complete run without a network. The text and the code are real, the models are scripted.
//
// The replies of the root and its child are fixed. A model that is called by `llm_query` searches the text in its prompt.

export interface DemoRequest {
  readonly messages: readonly { readonly role: string; readonly content: string }[];
}

interface DemoReply {
  readonly text: string;
  readonly delayMs: number;
}

export const DEMO_QUESTION =
  "Which ships brought lanterns to the harbour, and how many lanterns did each of them bring in all?";

const DAYS = 2000;
const SHIPS = ["Aurora", "Brigid", "Corvus", "Dorada", "Estrel"];
const CARGO = ["barrels of salt", "bales of wool", "crates of tea", "sacks of grain", "casks of oil"];
const THINKING_MS = 250;
const READING_MS = 120;

/** The log of a harbour, a line per day. A few lines, far apart and worded differently, answer the question. */
export function demoContext(): string {
  const lines = Array.from({ length: DAYS }, (_, day) => {
    const ship = SHIPS[(day * 7) % SHIPS.length] ?? "";
    const cargo = CARGO[(day * 11 + Math.floor(day / 13)) % CARGO.length] ?? "";
    return `Day ${day + 1}: the ${ship} came in with ${((day * 37) % 90) + 10} ${cargo}.`;
  });
  for (const [day, line] of Object.entries(NEEDLES)) lines[Number(day) - 1] = `Day ${day}: ${line}`;
  return `${lines.join("\n")}\n`;
}

const NEEDLES: Readonly<Record<number, string>> = {
  212: "from the Corvus they carried 40 lanterns ashore, two of them broken.",
  777: "the Brigid, late by a week, had 25 lanterns under a load of wool.",
  1403: "the harbour master signed for 35 more lanterns off the Corvus.",
  1888: "nothing but fog; the Brigid unloaded 15 lanterns by feel.",
};

/** The reply of the demo's models. */
export function demoReply({ messages }: DemoRequest): DemoReply {
  const step = messages.filter(({ role }) => role === "assistant").length;
  const question = messages.find(({ role }) => role === "user")?.content ?? "";
  if (question.includes(READ)) return { text: readPiece(question), delayMs: READING_MS };
  const script = question.includes(ADD_UP) ? CHILD : ROOT;
  return { text: script[Math.min(step, script.length - 1)] ?? "", delayMs: THINKING_MS };
}

const READ = "Copy every line about lanterns";
const ADD_UP = "Add up the lanterns of each ship";

function readPiece(prompt: string): string {
  return prompt.match(/^Day \d+: .*lanterns.*$/gm)?.join("\n") ?? "none";
}

const ROOT = [
  `I look at the material first.

\`\`\`repl
print(len(context), "characters,", context.count("\\n"), "lines")
print(context[:200])
\`\`\``,
  `A log, a line for each day. It has to be read, so I cut it into pieces and have all of them read at once.

\`\`\`repl
pieces = chunk(context, 16_000)
answers = llm_query_batched([f"${READ}, or say none.\\n\\n{piece}" for piece in pieces])
found = [line for answer in answers if answer.ok for line in answer.splitlines() if line != "none"]
print(len(pieces), "pieces read")
print("\\n".join(found))
\`\`\``,
  `Few lines are left, each written in its own way. Adding them up is a task of its own.

\`\`\`repl
sums = rlm_query("${ADD_UP}, and give them as JSON.", "\\n".join(found))
print(sums)
\`\`\``,
  `\`\`\`repl
import json
totals = json.loads(sums)
FINAL("; ".join(f"{ship}: {count} lanterns" for ship, count in sorted(totals.items())))
\`\`\``,
];

const CHILD = [
  `\`\`\`repl
import json, re
totals = {}
for line in context.splitlines():
    ship = re.search(r"Aurora|Brigid|Corvus|Dorada|Estrel", line).group()
    totals[ship] = totals.get(ship, 0) + int(re.search(r"(\\d+) (?:more )?lanterns", line).group(1))
print(totals)
\`\`\``,
  `\`\`\`repl
FINAL(json.dumps(totals))
\`\`\``,
];
