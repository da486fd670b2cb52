// The state of something: a shape and a word. The colour only repeats what they say.

import type { VNode } from "preact";
import { toSafeText } from "../safe-text.ts";
import styles from "./status.module.css";

type Shape = "dot" | "ring" | "square" | "check" | "half" | "cross" | "slash" | "bars" | "clock";
type Tone = "active" | "quiet" | "wait" | "error";

interface Look {
  readonly shape: Shape;
  readonly tone: Tone;
  /** Default: the state itself. */
  readonly word?: string;
}

const LOOKS: Readonly<Record<string, Look>> = {
  // What goes on.
  running: { shape: "dot", tone: "active" },
  live: { shape: "dot", tone: "active" },
  waiting: { shape: "clock", tone: "wait" },
  queued: { shape: "clock", tone: "wait" },
  paused: { shape: "bars", tone: "wait" },
  idle: { shape: "ring", tone: "quiet" },
  // What ended well.
  final: { shape: "check", tone: "quiet" },
  completed: { shape: "check", tone: "quiet" },
  ok: { shape: "check", tone: "quiet" },
  closed: { shape: "square", tone: "quiet" },
  exit: { shape: "square", tone: "quiet" },
  // What ended otherwise.
  partial: { shape: "half", tone: "wait" },
  interrupted: { shape: "slash", tone: "wait" },
  cancelled: { shape: "slash", tone: "quiet" },
  failed: { shape: "cross", tone: "error" },
  error: { shape: "cross", tone: "error" },
  broken: { shape: "cross", tone: "error" },
  "timed-out": { shape: "clock", tone: "error", word: "timed out" },
};
const UNKNOWN: Look = { shape: "ring", tone: "quiet" };

const SHAPES: Readonly<Record<Shape, VNode>> = {
  dot: <circle cx="6" cy="6" r="4" fill="currentColor" stroke="none" />,
  ring: <circle cx="6" cy="6" r="3.5" />,
  square: <rect x="2.5" y="2.5" width="7" height="7" rx="1" />,
  check: <path d="m2 6.5 2.5 2.5L10 3" />,
  half: (
    <>
      <circle cx="6" cy="6" r="4" />
      <path d="M6 2a4 4 0 0 1 0 8z" fill="currentColor" stroke="none" />
    </>
  ),
  cross: <path d="m2.5 2.5 7 7m0-7-7 7" />,
  slash: <path d="M6 2a4 4 0 1 0 0 8 4 4 0 0 0 0-8ZM3.2 8.8 8.8 3.2" />,
  bars: <path d="M4 2.500v7M8 2.500v7" />,
  clock: <path d="M6 2a4 4 0 1 0 0 8 4 4 0 0 0 0-8ZM6 4v2l1.5 1" />,
};

interface StatusProps {
  /** As the server says it. */
  readonly state: string;
  /** Another word than the state's. */
  readonly word?: string | undefined;
  /** The shape alone is seen, where the words would repeat in every row; the word is still read out and shown as a hint. */
  readonly isSmall?: boolean;
}

export function Status({ state, word, isSmall = false }: StatusProps): VNode {
  const look = Object.hasOwn(LOOKS, state) ? (LOOKS[state] ?? UNKNOWN) : UNKNOWN;
  const said = word ?? look.word ?? toSafeText(state, { maxCharacters: 40 });
  return (
    <span class={`${styles["status"]} ${styles[look.tone]}`} title={isSmall ? said : undefined}>
      <svg width="12" height="12" viewBox="0 0 12 12" aria-hidden="true">
        {SHAPES[look.shape]}
      </svg>
      <span class={isSmall ? "unseen" : undefined}>{said}</span>
    </span>
  );
}
