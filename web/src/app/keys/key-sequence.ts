// Which keys were pressed, by the names that commands use: `j`, `Ctrl+k`, `g s`.

/** As a keyboard event has it. */
export interface KeyPress {
  readonly key: string;
  readonly ctrlKey: boolean;
  readonly metaKey: boolean;
  readonly altKey: boolean;
  readonly shiftKey: boolean;
}

const MODIFIERS = new Set([
  "Control",
  "Meta",
  "Alt",
  "Shift",
  "CapsLock",
  "AltGraph",
  "Dead",
  "Process",
  "Unidentified",
]);
/** The second key comes within this time. */
const WAIT_MS = 1_200;

/** Undefined: a key that only changes others. Control and Command are the same. */
export function toKeyName({ key, ctrlKey, metaKey, altKey, shiftKey }: KeyPress): string | undefined {
  if (MODIFIERS.has(key)) return undefined;
  const isCharacter = /^.$/u.test(key);
  const hasControl = ctrlKey || metaKey;
  // What Shift does to a character is seen in the character, as in `?` and `G`.
  const isShiftNamed = shiftKey && (!isCharacter || hasControl);
  const name = key === " " ? "Space" : hasControl ? key.toLowerCase() : key;
  return [hasControl && "Ctrl+", altKey && "Alt+", isShiftNamed && "Shift+", isCharacter || !hasControl ? name : key]
    .filter(Boolean)
    .join("");
}

/** Remembers the first of two keys. */
export class KeySequence {
  #first: { readonly name: string; readonly at: number } | undefined;

  /**
   * The keys that were pressed, if they are among the known ones. `waiting`: they are the beginning of some. Undefined: they mean nothing.
   * `at` is in milliseconds.
   */
  press(name: string, at: number, known: readonly string[]): { readonly keys: string } | "waiting" | undefined {
    const first = this.#first !== undefined && at - this.#first.at < WAIT_MS ? this.#first.name : undefined;
    this.#first = undefined;
    const keys = first === undefined ? name : `${first} ${name}`;
    if (known.includes(keys)) return { keys };
    if (known.some((candidate) => candidate.startsWith(`${name} `))) {
      this.#first = { name, at };
      return "waiting";
    }
    return first !== undefined && known.includes(name) ? { keys: name } : undefined;
  }
}

const MAC_NAMES: Readonly<Record<string, string>> = { Ctrl: "⌘", Alt: "⌥", Shift: "⇧" };
const NAMES: Readonly<Record<string, string>> = {
  ArrowUp: "↑",
  ArrowDown: "↓",
  ArrowLeft: "←",
  ArrowRight: "→",
  Escape: "Esc",
};

/** As key caps show them: `Ctrl+k` is `["Ctrl", "K"]`, `g s` is `["g", "s"]`. */
export function toKeyCaps(keys: string, isMac: boolean): readonly string[] {
  return keys.split(" ").flatMap((press) => {
    const parts = press === "+" ? ["+"] : press.split(/(?<=.)\+(?=.)/);
    const isCombined = parts.length > 1;
    return parts.map((part) => {
      const name = (isMac ? MAC_NAMES[part] : undefined) ?? NAMES[part] ?? part;
      return isCombined && name.length === 1 ? name.toUpperCase() : name;
    });
  });
}
