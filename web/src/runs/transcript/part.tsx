// A part of a transcript: its name, what it cost, and its text. Folded parts stay folded from row to row.

import type { ComponentChildren, VNode } from "preact";
import { useId } from "preact/hooks";
import { toSafeText } from "../../parts/safe-text.ts";
import type { RunMatch } from "../../state/runs/run-source.ts";
import { useRun } from "../run-context.ts";
import styles from "./transcript.module.css";

interface PartProps {
  /** Also the name under which it is remembered whether it is folded. */
  readonly title: string;
  /** Few words, as in `1,204 tokens`. */
  readonly facts?: string;
  readonly tone?: "model" | "code" | "child" | "wait" | "error" | undefined;
  readonly isFoldedAtFirst?: boolean;
  readonly children: ComponentChildren;
}

const MAX_FACTS = 200;
const TITLES: Readonly<Record<RunMatch["field"], string>> = {
  query: "Task",
  prompt: "Prompt",
  reply: "Reply",
  reasoning: "Reasoning",
  code: "Code",
  output: "Output",
  error: "Error",
  observation: "Observation",
  answer: "Answer",
  tool: "Result",
};

/** The part in which the chosen match is. Undefined: none is chosen. */
export function titleOfMatch(match: RunMatch | undefined): string | undefined {
  return match && TITLES[match.field];
}

export function Part({ title, facts = "", tone, isFoldedAtFirst = false, children }: PartProps): VNode {
  const { parts, search } = useRun();
  const id = useId();
  const isSought = titleOfMatch(search.chosen) === title;
  const isOpen = isSought || parts.isOpen(title, !isFoldedAtFirst);
  return (
    <section data-part={title} class={`${styles["part"]} ${tone === undefined ? "" : styles[tone]}`}>
      <h3 class={styles["partHead"]}>
        <button type="button" aria-expanded={isOpen} aria-controls={id} onClick={() => parts.set(title, !isOpen)}>
          <svg class={`${styles["chevron"]} ${isOpen ? styles["open"] : ""}`} viewBox="0 0 16 16" aria-hidden="true">
            <path d="M6 4l4 4-4 4" />
          </svg>
          <span>{title}</span>
          <span class={styles["partFacts"]}>{toSafeText(facts, { maxCharacters: MAX_FACTS })}</span>
        </button>
      </h3>
      <div id={id} class={styles["partBody"]} hidden={!isOpen}>
        {isOpen && children}
      </div>
    </section>
  );
}
