// Formats rows for the terminal and for the README.

import { readFileSync, writeFileSync } from "node:fs";
import { quartileSpread } from "./stats.mjs";

const NOISY_SPREAD = 0.25;
const README = new URL("../README.md", import.meta.url);
const [BEGIN, END] = ["<!-- latest: begin -->", "<!-- latest: end -->"];
const HEADER = ["question", "ours", "floor or peer", "ratio", "aim", "met"];

/** The cells of a row; a tilde marks a ratio whose floor varied. */
export function toCells({ question, ours, other, ratio, aim, floor }) {
  const noisy = isNoisy(floor);
  const cells = [
    question,
    amount(ours),
    other === undefined ? "" : `${amount(other)} ${other.name}`,
    ratio === undefined
      ? ""
      : `${noisy ? "~" : ""}${number(ratio.best)}${ratio.typical === undefined ? "" : ` (${number(ratio.typical)})`}`,
    aim === undefined ? "" : aimText(aim, ratio === undefined ? ours.unit : ""),
    aim === undefined ? "" : isMet(aim, ratio ?? ours) ? "yes" : "NO",
  ];
  return cells;
}

export function isNoisy(floor) {
  return floor !== undefined && floor.length > 3 && quartileSpread(floor) > NOISY_SPREAD;
}

/** A row about how long the host's event loop was blocked in a phase. */
export function toDelayRow({ phase, ownMs, p999Ms, maxMs }) {
  return {
    question: `Event loop held up by the host's own work: ${phase}`,
    ours: { best: ownMs, unit: "ms" },
    other: { name: `for any reason (p99.9: ${number(p999Ms)} ms)`, best: maxMs, unit: "ms" },
    ...(phase !== "idle" && { aim: { below: 2, unit: "ms", met: ownMs < 2 } }),
  };
}

export function toTerminal(rows) {
  const table = [HEADER, ...rows.map((cells) => cells.map((cell) => cell.replaceAll("`", "")))];
  const widths = HEADER.map((_, column) => Math.max(...table.map((cells) => cells[column].length)));
  return table
    .map((cells) =>
      cells
        .map((cell, column) => cell.padEnd(widths[column]))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

export function toMarkdown(rows) {
  const line = (cells) => `| ${cells.join(" | ")} |`;
  return [line(HEADER), line(HEADER.map(() => "---")), ...rows.map(line)].join("\n");
}

/** Replaces the text between the markers of the README. */
export function writeReadme(text) {
  const old = readFileSync(README, "utf8");
  const [before, rest] = old.split(BEGIN);
  const [, after] = rest.split(END);
  writeFileSync(README, `${before}${BEGIN}\n${text}\n${END}${after}`);
}

function isMet({ most = Infinity, least = -Infinity, below = Infinity, met }, { best }) {
  return met ?? (best <= most && best >= least && best < below);
}

function aimText({ text, most, least, below }, unit) {
  if (text !== undefined) return text;
  const [sign, value] = most !== undefined ? ["≤", most] : least !== undefined ? ["≥", least] : ["<", below];
  return `${sign} ${number(value)} ${unit}`.trim();
}

export function amount({ best, unit }) {
  return `${number(best)} ${unit}`;
}

export function number(value) {
  if (Math.abs(value) >= 100) return Math.round(value).toLocaleString("en-US");
  return String(Number(value.toPrecision(value < 0.1 ? 2 : 3)));
}
