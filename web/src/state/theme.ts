// Light, dark, or as the system is. The choice is kept on this machine.

import { signal, type ReadonlySignal } from "@preact/signals";

export type ThemeChoice = "system" | "light" | "dark";

const KEY = "rlm-theme";
const CHOICES: readonly ThemeChoice[] = ["system", "light", "dark"];

export class Theme {
  readonly #choice = signal<ThemeChoice>(readChoice());

  constructor() {
    apply(this.#choice.value);
  }

  get choice(): ReadonlySignal<ThemeChoice> {
    return this.#choice;
  }

  choose(choice: ThemeChoice): void {
    this.#choice.value = choice;
    localStorage.setItem(KEY, choice);
    apply(choice);
  }

  next(): void {
    const at = CHOICES.indexOf(this.#choice.value);
    this.choose(CHOICES[(at + 1) % CHOICES.length] ?? "system");
  }
}

function readChoice(): ThemeChoice {
  const kept = localStorage.getItem(KEY);
  return CHOICES.find((choice) => choice === kept) ?? "system";
}

function apply(choice: ThemeChoice): void {
  if (choice === "system") delete document.documentElement.dataset["theme"];
  else document.documentElement.dataset["theme"] = choice;
}
