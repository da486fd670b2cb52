// What the scripted model of these tests answers. A word of the question chooses the run, and what code prints chooses the next step.

const block = (code: string): string => `\`\`\`repl\n${code}\n\`\`\``;

/** The last one answers all that no other matches. */
export const RULES: readonly object[] = [
  {
    match: "^Question: .*HARBOUR",
    reply: {
      text: `I look at the material first.\n\n${block('print("LOOKED AT", len(context), "characters")')}`,
      reasoning: "The log is long. I should not print all of it.",
    },
  },
  {
    match: "LOOKED AT",
    reply: `It is read in pieces, all at once.\n\n${block(
      [
        "lines = context.splitlines()",
        "pieces = ['\\n'.join(lines[at::5]) for at in range(5)]",
        "answers = llm_query_batched([f'Copy every line about lanterns.\\n\\n{piece}' for piece in pieces])",
        "found = [line for answer in answers if answer.ok for line in answer.splitlines()]",
        "print('READ', len(pieces), 'pieces,', len(found), 'lines')",
      ].join("\n"),
    )}`,
  },
  { match: "Copy every line", reply: { text: "Day 7: 40 lanterns off the Corvus", delayMs: 150 } },
  {
    match: "READ 5 pieces",
    reply: `Adding them up is a task for others.\n\n${block(
      "sums = rlm_query_batched(['Add up the lanterns of the Brigid.', 'Add up the lanterns of the Corvus.'], [found, found])\nprint('ADDED', [str(sum) for sum in sums])",
    )}`,
  },
  { match: "^Question: Add up the lanterns of the Brigid", reply: { text: block("FINAL(0)"), delayMs: 100 } },
  { match: "^Question: Add up", reply: { text: block("FINAL(200)"), delayMs: 200 } },
  { match: "ADDED", reply: block("FINAL('Corvus: 200 lanterns; Brigid: none')") },
  { match: "^Question: .*ENDLESS", reply: block("print('THE FIRST STEP')") },
  { match: "THE FIRST STEP", reply: { text: "never said", delayMs: 600_000 } },
  { match: "^Question: .*BROKEN", reply: block("raise ValueError('no such ship')") },
  { reply: block("FINAL('done')") },
];
