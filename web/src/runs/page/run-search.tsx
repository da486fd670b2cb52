// Full-text search in a run: the field, and the places where it was found.

import type { VNode } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { Button } from "../../parts/button.tsx";
import { toSafeText } from "../../parts/safe-text.ts";
import type { RunMatch } from "../../state/runs/run-source.ts";
import { useRun } from "../run-context.ts";
import styles from "./run-search.module.css";

const DELAY_MS = 250;
/** By this the command `/` finds it. */
export const SEARCH_FIELD = "run-search";

export function SearchField(): VNode {
  const run = useRun();
  const { search } = run;
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  const seek = (text: string): void => {
    clearTimeout(timer.current);
    timer.current = setTimeout(() => void search.find(text), DELAY_MS);
  };
  const goToMatch = async (text: string, by: 1 | -1): Promise<void> => {
    await search.find(text);
    const match = search.step(by);
    if (match !== undefined) run.go(match);
  };
  const onKeyDown = (event: KeyboardEvent & { readonly currentTarget: HTMLInputElement }): void => {
    const field = event.currentTarget;
    if (event.key === "Escape") {
      field.value = "";
      void search.find("");
      field.blur();
    }
    if (event.key !== "Enter") return;
    event.preventDefault();
    clearTimeout(timer.current);
    void goToMatch(field.value, event.shiftKey ? -1 : 1);
  };
  return (
    <input
      id={SEARCH_FIELD}
      type="search"
      class={styles["field"]}
      placeholder="Search in everything"
      aria-label="Search in the run"
      autocomplete="off"
      spellcheck={false}
      onInput={({ currentTarget }) => seek(currentTarget.value)}
      onKeyDown={onKeyDown}
    />
  );
}

export function SearchResults(): VNode | null {
  const run = useRun();
  const { search } = run;
  const list = useRef<HTMLOListElement>(null);
  const at = search.at.value;
  useEffect(() => {
    list.current?.querySelector("[aria-current=true]")?.scrollIntoView({ block: "nearest" });
  }, [at]);
  if (search.text.value === "") return null;
  const matches = search.matches.value;
  const choose = (index: number): void => {
    const match = search.choose(index);
    if (match !== undefined) run.go(match);
  };
  return (
    <section class={styles["results"]} aria-label="Search results">
      <p class={styles["count"]} role="status">
        {summary(search.state.value, matches.length, at, search.hasMore)}
      </p>
      <ol ref={list} class={styles["list"]}>
        {matches.map((match, index) => (
          <li key={`${match.seq}-${match.field}-${match.stream ?? ""}`}>
            <button type="button" class={styles["match"]} aria-current={index === at} onClick={() => choose(index)}>
              <span class={styles["where"]}>{toSafeText(placeOf(match))}</span>
              <span class={styles["excerpt"]}>
                {toSafeText(match.before.trimStart())}
                <mark>{toSafeText(match.text)}</mark>
                {toSafeText(match.after)}
              </span>
            </button>
          </li>
        ))}
      </ol>
      {search.hasMore && search.state.value !== "searching" && (
        <Button kind="quiet" onClick={() => void search.more()}>
          Search on
        </Button>
      )}
    </section>
  );
}

function summary(state: "idle" | "searching" | "failed", count: number, at: number, hasMore: boolean): string {
  if (state === "failed") return "The search failed. Try it again.";
  if (state === "searching" && count === 0) return "Searching";
  if (count === 0) return hasMore ? "Nothing yet" : "It is nowhere in the run";
  const total = `${count}${hasMore ? "+" : ""} ${count === 1 ? "place" : "places"}`;
  return at < 0 ? `${total}. Enter goes to the next one.` : `${at + 1} of ${total}`;
}

function placeOf({ nodeId, step, field, stream }: RunMatch): string {
  const where = nodeId === null ? "run" : step === null ? nodeId : `${nodeId} step ${step}`;
  return `${where} · ${stream === "stderr" ? "stderr" : field}`;
}
