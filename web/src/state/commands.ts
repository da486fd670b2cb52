// What can be done here, for the command palette, the keys, and the list behind `?`. A view registers its commands while it is shown.

import { computed, signal, type ReadonlySignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { usePage } from "./page.ts";

export interface Command {
  /** Tells commands apart; the latest one with an id wins. */
  readonly id: string;
  /** As in "Interrupt the session". */
  readonly title: string;
  /** The heading in lists, as in "Session". */
  readonly group: string;
  /** One key, as in `j`, `?`, `Enter`, `Ctrl+k` (Command on a Mac), or two after each other, as in `g s`. */
  readonly keys?: string | undefined;
  /** Other words by which it is found, as in "stop kill". */
  readonly words?: string | undefined;
  readonly run: () => void;
}

export class Commands {
  readonly #sets = signal<readonly (readonly Command[])[]>([]);
  readonly #list = computed(() => [
    ...new Map(this.#sets.value.flat().map((command) => [command.id, command])).values(),
  ]);

  /** One for each id. */
  get list(): ReadonlySignal<readonly Command[]> {
    return this.#list;
  }

  add(commands: readonly Command[]): Disposable {
    this.#sets.value = [...this.#sets.value, commands];
    return {
      [Symbol.dispose]: () => {
        this.#sets.value = this.#sets.value.filter((set) => set !== commands);
      },
    };
  }

  /** By its keys; the latest one wins. */
  find(keys: string): Command | undefined {
    return this.#list.value.findLast((command) => command.keys === keys);
  }
}

/** Registers commands while the component is shown. Only ids, titles and keys are compared; `run` is always the latest. */
export function useCommands(commands: readonly Command[]): void {
  const page = usePage();
  const latest = useRef(commands);
  latest.current = commands;
  const facts = JSON.stringify(commands);
  useEffect(() => {
    const added = page.commands.add(
      latest.current.map((command) => ({
        ...command,
        run: () => latest.current.find(({ id }) => id === command.id)?.run(),
      })),
    );
    return () => added[Symbol.dispose]();
  }, [facts]);
}
