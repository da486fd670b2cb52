// Draws a recording as an animated SVG, for pages on which no script runs.
//
// A word is drawn once, where it stood, and is visible from the moment it came until it was replaced: one CSS animation for all words
// with the same interval. Scrolling moves the whole sheet. Readers who prefer reduced motion see the last frame.
import { Screen } from "./screen.mjs";

const CELL = { width: 8.4, height: 19, font: 14, baseline: 14 };
const PADDING = 14;
const BAR = 30;
/** How long the last frame stays before the recording begins again. */
const HOLD_MS = 4_000;
/** What comes closer together is one frame. */
const FRAME_MS = 40;
/** Black is grey, so that it can be read. The bright colours are the same. */
const COLOURS = ["#8b949e", "#ff7b72", "#7ee787", "#e3b341", "#79c0ff", "#d2a8ff", "#76e3ea", "#e6edf3"];

/** `recording`: `{ columns, rows, events: [[milliseconds, text], …] }`. */
export function toSVG({ columns, rows, events }, { title, description }) {
  const { words, tops, cursors, totalMs } = play({ columns, rows, events });
  const width = columns * CELL.width;
  const height = rows * CELL.height;
  const [outerWidth, outerHeight] = [round(width + 2 * PADDING), height + BAR + PADDING];
  const percent = (time) => `${round((time / totalMs) * 100)}%`;
  const groups = groupByInterval(words);
  const rules = groups.map(([{ from, to }], index) => {
    const end = to === null ? "" : `${percent(to)}{visibility:hidden}`;
    const start = from === 0 ? "0%{visibility:visible}" : `0%{visibility:hidden}${percent(from)}{visibility:visible}`;
    return `@keyframes k${index}{${start}${end}}`;
  });
  const sheet = groups.map((members, index) => {
    const last = members[0].to === null ? " z" : "";
    return `<g class="w${last}" style="animation-name:k${index}">${members.map(drawWord).join("")}</g>`;
  });
  const seconds = `${round(totalMs / 1000)}s`;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${outerWidth} ${outerHeight}" width="${outerWidth}" height="${outerHeight}" role="img" aria-labelledby="title description">
<title id="title">${escape(title)}</title>
<desc id="description">${escape(description)}</desc>
<style>
text{font:${CELL.font}px ui-monospace,SFMono-Regular,Menlo,Consolas,"Liberation Mono","DejaVu Sans Mono",monospace;fill:#e6edf3;white-space:pre}
${COLOURS.map((colour, index) => `.c${index}{fill:${colour}}`).join("")}
.b{font-weight:700}.d{fill-opacity:.7}.i{fill:#0d1117}
.w{visibility:hidden}.w,.s,.u{animation:0s step-end infinite;animation-duration:${seconds}}
.s{animation-name:s}.u{animation-name:u;fill:#e6edf3;fill-opacity:.55}
${rules.join("\n")}
@keyframes s{${tops.map(({ time, top }) => `${percent(time)}{transform:${moved(0, -top)}}`).join("")}}
@keyframes u{${cursors.map(({ time, row, column }) => `${percent(time)}{transform:${moved(column, row)}}`).join("")}}
@media (prefers-reduced-motion:reduce){.w,.s,.u{animation:none}.z{visibility:visible}.s{transform:${moved(0, -tops.at(-1).top)}}.u{visibility:hidden}}
</style>
<rect width="${outerWidth}" height="${outerHeight}" rx="9" fill="#0d1117"/>
<rect x=".5" y=".5" width="${round(outerWidth - 1)}" height="${outerHeight - 1}" rx="8.5" fill="none" stroke="#30363d"/>
<circle cx="20" cy="16" r="5" fill="#ff5f57"/><circle cx="38" cy="16" r="5" fill="#febc2e"/><circle cx="56" cy="16" r="5" fill="#28c840"/>
<svg x="${PADDING}" y="${BAR}" width="${round(width)}" height="${height}">
<g class="s">
${sheet.join("\n")}
<rect class="u" width="${CELL.width}" height="${CELL.height - 2}"/>
</g>
</svg>
</svg>
`;
}

/** The words with the intervals in which they are visible, the rows at the top of the window, and the places of the cursor. */
function play({ columns, rows, events }) {
  const screen = new Screen(columns, rows);
  const words = [];
  const tops = [];
  const cursors = [];
  let shown = new Map();
  for (const { time, text } of toFrames(events)) {
    screen.write(text);
    const now = new Map(wordsOf(screen).map((word) => [keyOf(word), word]));
    for (const [key, word] of shown) if (!now.has(key)) words.push({ ...word, to: time });
    shown = new Map([...now].map(([key, word]) => [key, shown.get(key) ?? { ...word, from: time, to: null }]));
    if (tops.at(-1)?.top !== screen.top) tops.push({ time, top: screen.top });
    const cursor = screen.isCursorShown ? { row: screen.row, column: screen.column } : { row: 0, column: -2 };
    const before = cursors.at(-1);
    if (before?.row !== cursor.row || before.column !== cursor.column) cursors.push({ time, ...cursor });
  }
  words.push(...shown.values());
  return { words, tops, cursors, totalMs: (events.at(-1)?.[0] ?? 0) + HOLD_MS };
}

/** Output that comes within one frame is drawn together, at the time of the first. The first frame is at 0. */
function toFrames(events) {
  const frames = [];
  for (const [time, text] of events) {
    const last = frames.at(-1);
    if (last !== undefined && time - last.time < FRAME_MS) last.text += text;
    else frames.push({ time: last === undefined ? 0 : time, text });
  }
  return frames;
}

/** Runs of cells without a space between them, in one style. A space in inverse is part of a word. */
function wordsOf(screen) {
  return screen.lines.flatMap((cells, row) => {
    const words = [];
    for (let column = 0; column < cells.length; column += 1) {
      const cell = cells[column];
      if (cell === undefined || (cell.text === " " && !cell.style.inverse)) continue;
      const last = words.at(-1);
      if (last !== undefined && last.column + last.cells === column && isSame(last.style, cell.style)) {
        last.text += cell.text;
        last.cells += 1;
      } else words.push({ row, column, cells: 1, text: cell.text, style: cell.style });
    }
    return words;
  });
}

function isSame(a, b) {
  return a === b || JSON.stringify(a) === JSON.stringify(b);
}

function keyOf({ row, column, text, style }) {
  return JSON.stringify([row, column, text, style]);
}

function groupByInterval(words) {
  const groups = new Map();
  for (const word of words.toSorted((a, b) => a.from - b.from || a.row - b.row || a.column - b.column)) {
    const key = `${word.from} ${word.to}`;
    groups.set(key, [...(groups.get(key) ?? []), word]);
  }
  return [...groups.values()];
}

function drawWord({ row, column, cells, text, style }) {
  const [x, y] = [round(column * CELL.width), row * CELL.height];
  const colour = style.colour === null ? 7 : style.colour % 8;
  const classes = [
    style.inverse ? "i" : colour === 7 ? "" : `c${colour}`,
    style.bold ? "b" : "",
    style.dim ? "d" : "",
  ].filter(Boolean);
  const attribute = classes.length === 0 ? "" : ` class="${classes.join(" ")}"`;
  const width = round(cells * CELL.width);
  // A font of another width still fits into the cells.
  const fit = cells > 1 ? ` textLength="${width}"` : "";
  const drawn = `<text x="${x}" y="${y + CELL.baseline}"${fit}${attribute}>${escape(text)}</text>`;
  if (!style.inverse) return drawn;
  return `<rect x="${x}" y="${y}" width="${width}" height="${CELL.height}" fill="${COLOURS[colour]}"/>${drawn}`;
}

function moved(column, row) {
  return `translate(${round(column * CELL.width)}px,${row * CELL.height}px)`;
}

function round(number) {
  return Math.round(number * 100) / 100;
}

function escape(text) {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
