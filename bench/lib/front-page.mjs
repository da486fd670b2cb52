// The table of the front page: some rows of the latest run, beside their floors and peers.

import { readFileSync, writeFileSync } from "node:fs";
import { amount } from "./report.mjs";

const PAGE = new URL("../../README.md", import.meta.url);
const MARKED = /(?<=<!-- bench: begin -->\n)[\s\S]*(?=<!-- bench: end -->)/;

/** A line of the table: its text, the question of its row, and the floors or peers that it shows. */
const LINES = [
  {
    text: "Open a session and get the first result",
    question: "Create to first result, from the pool",
    others: { ipykernel: "ipykernel", "spawn of a bare `python3 -I -S`": "starting a bare Python" },
  },
  {
    text: "Execute `x=1` in a warm session",
    question: "Warm `x=1`",
    others: { ipykernel: "ipykernel", "raw pipe echo": "a raw pipe echo" },
  },
  {
    text: "Memory of an idle session, one of 500",
    question: "Memory of an idle session, one of 500, all of its processes",
    others: { ipykernel: "ipykernel" },
  },
  {
    text: "Stream 105 MB of output",
    question: "105 MB in large writes, `sys.stdout.write`",
    others: { "dd, same pipe": "`dd` on the same pipe" },
  },
  {
    text: "Fork a live session, to the first result",
    question: "Fork to the first result, 0 MB of heap",
    others: { "os.fork in plain Python": "a bare `os.fork`" },
  },
  {
    text: "Fork it with 500 MB of heap",
    question: "Fork to the first result, 500 MB of heap",
    others: { "os.fork in plain Python": "a bare `os.fork`" },
  },
  { text: "Interrupt an endless loop, state kept", question: "Endless loop to `interrupted`: median", others: {} },
  {
    text: "1,000 model calls of 50 ms, 64 at once",
    question: "1,000 calls of 50 ms over HTTP, 64 at once",
    others: { "`fetch` alone, as many at once": "`fetch` alone" },
  },
];

/** The table, from the rows of a run. Rows that were not measured are left out. */
export function toFrontPage(rows) {
  const lines = LINES.flatMap(({ text, question, others }) => {
    const found = rows.filter((row) => row.question === question);
    if (found.length === 0) return [];
    const shown = found
      .filter(({ other }) => other?.name in others)
      .map(({ other }) => `${amount(other)}: ${others[other.name]}`);
    return [`| ${text} | **${amount(found[0].ours)}** | ${shown.join("; ")} |`];
  });
  return ["| | RLM Runtime | floor or peer, same machine, same minutes |", "|---|---|---|", ...lines, ""].join("\n");
}

/** Writes the table to README.md, with the machine that it was measured on. */
export function writeFrontPage(rows, facts) {
  const page = readFileSync(PAGE, "utf8");
  writeFileSync(
    PAGE,
    page.replace(MARKED, () => `\n${toFrontPage(rows)}\n${facts}\n\n`),
  );
}
