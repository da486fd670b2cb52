// Text of a terminal: colours are shown, other control bytes and marks that reorder text are made visible.
//
// Long text shows its beginning and its end; the rest is a button away. What is shown in full is laid out only where it is seen.

import type { VNode } from "preact";
import { useRef, useState } from "preact/hooks";
import { Button } from "../button.tsx";
import { formatCount } from "../format.ts";
import { AnsiScreen } from "./ansi/ansi-screen.ts";
import type { AnsiRun } from "./ansi/ansi-line.ts";
import type { AnsiStyle } from "./ansi/ansi-style.ts";
import styles from "./ansi-text.module.css";

interface AnsiTextProps {
  readonly text: string;
  /** Of the beginning and of the end, before the reader asks for all. Default: 40 and 160. */
  readonly headLines?: number;
  readonly tailLines?: number;
}

type Line = AnsiScreen["lines"][number];

/** Laid out together, or not at all. */
const BLOCK_LINES = 200;
const MAX_LINE_CHARACTERS = 2_000;

export function AnsiText({ text, headLines = 40, tailLines = 160 }: AnsiTextProps): VNode {
  const { lines, dropped } = useScreen(text);
  const [isWhole, setWhole] = useState(false);
  const count = (lines.at(-1)?.runs.length ?? 0) === 0 ? lines.length - 1 : lines.length;
  const hidden = isWhole ? 0 : Math.max(0, count - headLines - tailLines);
  // A button for a handful of lines would take as much room as they do.
  const isCut = hidden > 10;
  const hasLongLine = !isWhole && isCutAnywhere(lines, isCut ? headLines : count, isCut ? tailLines : 0, count);
  const limit = isWhole ? Infinity : MAX_LINE_CHARACTERS;
  return (
    <div class={styles["text"]} dir="ltr">
      {dropped > 0 && <p class={styles["gap"]}>{formatCount(dropped)} earlier lines are not kept here</p>}
      <Lines lines={lines} from={0} to={isCut ? headLines : count} first={dropped} maxCharacters={limit} />
      {isCut && (
        <p class={styles["gap"]}>
          {formatCount(hidden)} lines are folded <Button onClick={() => setWhole(true)}>Show all</Button>
        </p>
      )}
      {isCut && <Lines lines={lines} from={count - tailLines} to={count} first={dropped} maxCharacters={limit} />}
      {hasLongLine && !isCut && (
        <p class={styles["gap"]}>
          Long lines are cut <Button onClick={() => setWhole(true)}>Show all</Button>
        </p>
      )}
    </div>
  );
}

/** What is added to a text is all that is read of it. */
function useScreen(text: string): AnsiScreen {
  const kept = useRef({ text: "", screen: new AnsiScreen() });
  if (!text.startsWith(kept.current.text)) kept.current = { text: "", screen: new AnsiScreen() };
  const { screen } = kept.current;
  screen.write(text.slice(kept.current.text.length));
  kept.current.text = text;
  return screen;
}

interface LinesProps {
  readonly lines: readonly Line[];
  readonly from: number;
  readonly to: number;
  /** The number of the first of all lines, so that a block keeps its name when earlier ones are dropped. */
  readonly first: number;
  readonly maxCharacters: number;
}

function Lines({ lines, from, to, first, maxCharacters }: LinesProps): VNode {
  const blocks: VNode[] = [];
  const isLong = to - from > BLOCK_LINES;
  for (let at = from; at < to; at += BLOCK_LINES) {
    const own = lines.slice(at, Math.min(to, at + BLOCK_LINES));
    blocks.push(
      <div key={first + at} class={isLong ? styles["block"] : undefined} style={{ "--lines": own.length }}>
        {own.flatMap(({ runs }) => [...toPieces(runs, maxCharacters), "\n"])}
      </div>,
    );
  }
  return <>{blocks}</>;
}

function toPieces(runs: readonly AnsiRun[], maxCharacters: number): (VNode | string)[] {
  const pieces: (VNode | string)[] = [];
  let left = maxCharacters;
  for (const { text, style } of runs) {
    if (left <= 0) break;
    const shown = text.length > left ? `${text.slice(0, left)}…` : text;
    left -= text.length;
    const look = toLook(style);
    pieces.push(look === undefined ? shown : <span {...look}>{shown}</span>);
  }
  return pieces;
}

/** Undefined: plain text. */
function toLook(style: AnsiStyle): { readonly class: string; readonly style: Record<string, string> } | undefined {
  const { colour, background, isBold, isFaint, isItalic, isUnderlined, isStruck, isInverse } = style;
  // Without a colour of its own, inverse text is that of the page, the other way round.
  const swapped = colour === undefined ? [] : [background, colour];
  const [ink, paper] = isInverse === true ? swapped : [colour, background];
  const names = [
    ink !== undefined && "coloured",
    paper !== undefined && "on",
    isInverse === true && paper === undefined && "inverse",
    isBold === true && "bold",
    isFaint === true && "faint",
    isItalic === true && "italic",
    isUnderlined === true && isStruck !== true && "underlined",
    isStruck === true && "struck",
  ].flatMap((name) => (name === false ? [] : [styles[name]]));
  if (names.length === 0) return undefined;
  return { class: names.join(" "), style: { ...(ink && { "--raw": ink }), ...(paper && { "--raw-paper": paper }) } };
}

function isCutAnywhere(lines: readonly Line[], head: number, tail: number, count: number): boolean {
  const shown = [...lines.slice(0, head), ...lines.slice(count - tail, count)];
  return shown.some(({ runs }) => runs.reduce((sum, { text }) => sum + text.length, 0) > MAX_LINE_CHARACTERS);
}
