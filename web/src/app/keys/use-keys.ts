// Runs commands by their keys. Keys belong to a field while somebody types in it, and to a window that covers the page.

import { useEffect } from "preact/hooks";
import type { Commands } from "../../state/commands.ts";
import { KeySequence, toKeyName } from "./key-sequence.ts";

export function useKeys(commands: Commands): void {
  useEffect(() => {
    const sequence = new KeySequence();
    const onKeyDown = (event: KeyboardEvent): void => {
      const name = toKeyName(event);
      if (name === undefined || event.defaultPrevented || event.isComposing || belongsElsewhere(event, name)) return;
      const known = commands.list.value.flatMap(({ keys }) => (keys === undefined ? [] : [keys]));
      const pressed = sequence.press(name, event.timeStamp, known);
      if (pressed === undefined) return;
      event.preventDefault();
      if (pressed !== "waiting") commands.find(pressed.keys)?.run();
    };
    addEventListener("keydown", onKeyDown);
    return () => removeEventListener("keydown", onKeyDown);
  }, [commands]);
}

function belongsElsewhere({ target }: KeyboardEvent, name: string): boolean {
  if (document.querySelector("dialog[open]") !== null) return true;
  if (!(target instanceof HTMLElement)) return false;
  const hasControl = name.startsWith("Ctrl+") || name.startsWith("Alt+");
  if (target.isContentEditable || target.closest("input, textarea, select") !== null) return !hasControl;
  // These keys press what has the focus.
  return (name === "Enter" || name === "Space") && target.closest("a, button, summary, [role=button]") !== null;
}

/** Whether key caps are those of a Mac. */
export function isMac(): boolean {
  return /mac|iphone|ipad/i.test(navigator.platform);
}
