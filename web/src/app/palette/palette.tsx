// The command palette: everything that can be done here, and everywhere one can go, by typing a few letters.

import type { VNode } from "preact";
import { useEffect, useId, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { Icon, type IconName } from "../../parts/icon.tsx";
import { toSafeText } from "../../parts/safe-text.ts";
import { Status } from "../../parts/feedback/status.tsx";
import { usePage, type PageState } from "../../state/page.ts";
import { loadPlaces, type PlaceToGo } from "../../state/places.ts";
import { KeyCaps } from "../keys/key-caps.tsx";
import { rank, type Entry, type Ranked } from "./rank.ts";
import { keepRecent, readRecent } from "./recent.ts";
import styles from "./palette.module.css";

interface Choice extends Entry {
  readonly icon: IconName;
  readonly keys?: string | undefined;
  readonly state?: string;
  readonly stateWord?: string | undefined;
  readonly pick: () => void;
}

export default function Palette({ onClose }: { readonly onClose: () => void }): VNode {
  const page = usePage();
  const dialog = useRef<HTMLDialogElement>(null);
  const [query, setQuery] = useState("");
  const [active, setActive] = useState(0);
  const choices = useChoices(page);
  const shown = useMemo(() => rank(query, choices, readRecent()), [query, choices]);
  const listId = useId();

  useLayoutEffect(() => {
    const { current } = dialog;
    current?.showModal();
    return () => current?.close();
  }, []);
  useLayoutEffect(() => {
    dialog.current?.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" });
  }, [active, shown]);

  const pick = (choice: Choice | undefined): void => {
    if (choice === undefined) return;
    keepRecent(choice.id);
    onClose();
    // Once the focus is back, so that the command may move it.
    queueMicrotask(choice.pick);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.isComposing) return;
    const count = Math.max(1, shown.length);
    if (event.key === "ArrowDown") setActive((active + 1) % count);
    else if (event.key === "ArrowUp") setActive((active - 1 + count) % count);
    else if (event.key === "Enter") pick(shown[active]?.entry);
    else if (event.key.toLowerCase() === "k" && (event.ctrlKey || event.metaKey)) onClose();
    else return;
    event.preventDefault();
  };
  return (
    <dialog
      ref={dialog}
      class={styles["palette"]}
      aria-label="Search and commands"
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onPointerDown={({ target }) => target === dialog.current && onClose()}
    >
      <div class={styles["inside"]}>
        <div class={styles["field"]}>
          <Icon name="search" />
          <input
            type="text"
            role="combobox"
            aria-label="Search and commands"
            aria-expanded="true"
            aria-controls={listId}
            aria-activedescendant={shown.length > 0 ? `${listId}-${active}` : undefined}
            aria-autocomplete="list"
            autocomplete="off"
            spellcheck={false}
            placeholder="Go to a session, task or run, or type a command"
            value={query}
            onInput={({ currentTarget }) => {
              setQuery(currentTarget.value);
              setActive(0);
            }}
            onKeyDown={onKeyDown}
          />
        </div>
        <div id={listId} role="listbox" aria-label="What was found" class={styles["list"]}>
          {shown.map((ranked, index) => (
            <Option
              key={ranked.entry.id}
              id={`${listId}-${index}`}
              ranked={ranked}
              isActive={index === active}
              onActive={() => setActive(index)}
              onPick={() => pick(ranked.entry)}
            />
          ))}
        </div>
        {shown.length === 0 && (
          <p role="status" class={styles["none"]}>
            Nothing fits “{query}”
          </p>
        )}
        <p class={styles["help"]}>
          <span>
            <kbd>↑</kbd> <kbd>↓</kbd> choose
          </span>
          <span>
            <kbd>Enter</kbd> open
          </span>
          <span>
            <kbd>Esc</kbd> close
          </span>
        </p>
      </div>
    </dialog>
  );
}

interface OptionProps {
  readonly id: string;
  readonly ranked: Ranked<Choice>;
  readonly isActive: boolean;
  readonly onActive: () => void;
  readonly onPick: () => void;
}

function Option({ id, ranked: { entry, marks }, isActive, onActive, onPick }: OptionProps): VNode {
  return (
    <button
      type="button"
      tabIndex={-1}
      id={id}
      role="option"
      aria-selected={isActive}
      class={styles["option"]}
      onPointerMove={onActive}
      onClick={onPick}
    >
      <Icon name={entry.icon} />
      <span class={styles["title"]}>
        <Marked text={entry.title} marks={marks} />
      </span>
      {entry.state !== undefined && <Status state={entry.state} word={entry.stateWord} />}
      {entry.keys !== undefined && <KeyCaps keys={entry.keys} />}
      <span class={styles["group"]}>{entry.group}</span>
    </button>
  );
}

function Marked({ text, marks }: { readonly text: string; readonly marks: Ranked<Choice>["marks"] }): VNode {
  const parts = marks.flatMap(([start, end], index) => [
    text.slice(marks[index - 1]?.[1] ?? 0, start),
    <mark key={start}>{text.slice(start, end)}</mark>,
  ]);
  return (
    <>
      {parts}
      {text.slice(marks.at(-1)?.[1] ?? 0)}
    </>
  );
}

const ICONS: Readonly<Record<PlaceToGo["kind"], IconName>> = { Session: "sessions", Task: "tasks", Run: "runs" };

function useChoices({ commands, runtime, router }: PageState): readonly Choice[] {
  const [places, setPlaces] = useState<readonly PlaceToGo[]>([]);
  useEffect(() => {
    let isShown = true;
    void loadPlaces(runtime).then((found) => isShown && setPlaces(found));
    return () => void (isShown = false);
  }, [runtime]);
  const { value: list } = commands.list;
  return useMemo(() => {
    const actions = list.map((command): Choice => ({ ...command, icon: "chevron-right", pick: command.run }));
    const goals = places.map(({ id, kind, name, words, state, stateWord, route }): Choice => {
      const title = toSafeText(name, { maxCharacters: 200 });
      return { id, title, group: kind, words, state, stateWord, icon: ICONS[kind], pick: () => router.go(route) };
    });
    const inGroups = (isWanted: (group: string) => boolean): Choice[] => actions.filter(({ group }) => isWanted(group));
    return [
      ...inGroups((group) => group !== "Go" && group !== "Page"),
      ...goals,
      ...inGroups((group) => group === "Go"),
      ...inGroups((group) => group === "Page"),
    ];
  }, [list, places]);
}
