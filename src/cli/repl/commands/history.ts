// :history shows earlier input, with the number in `In` and `Out` if it was run in this session, else with `[-]`.

import type { ReplContext } from "../context.ts";

const DEFAULT_COUNT = 20;

export function showHistory(context: ReplContext, args: readonly string[]): void {
  const [first = ""] = args;
  const hasCount = /^\d+$/.test(first);
  const pattern = args.slice(hasCount ? 1 : 0).join(" ");
  const count = hasCount ? Number(first) : DEFAULT_COUNT;
  if (count === 0) throw new Error("give a number of entries that is not 0, as in ':history 50'");
  const found = context.history.filter((entry) => entry.toLowerCase().includes(pattern.toLowerCase())).slice(-count);
  if (found.length === 0)
    return context.line(pattern === "" ? "no history yet" : `nothing in the history has '${pattern}'`);
  const numbers = found.map((entry) => context.numberOf(entry));
  const labels = numbers.some((number) => number !== undefined) ? numbers.map(toLabel) : [];
  const width = Math.max(0, ...labels.map((label) => label.length));
  for (const [index, entry] of found.entries()) {
    const lines = entry.split("\n");
    for (const [row, line] of lines.entries()) {
      context.line(`${(row === 0 ? (labels[index] ?? "") : "").padEnd(width)}${line}`.trimEnd());
    }
  }
}

function toLabel(number: number | undefined): string {
  return `[${number ?? "-"}] `;
}
