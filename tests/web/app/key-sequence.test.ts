import { describe, expect, test } from "vitest";
import { KeySequence, toKeyCaps, toKeyName, type KeyPress } from "../../../web/src/app/keys/key-sequence.ts";

function press(key: string, modifiers: Partial<KeyPress> = {}): KeyPress {
  return { key, ctrlKey: false, metaKey: false, altKey: false, shiftKey: false, ...modifiers };
}

describe("toKeyName()", () => {
  test("names characters as they are typed, whatever Shift did", () => {
    expect(toKeyName(press("?", { shiftKey: true }))).toBe("?");
    expect(toKeyName(press("G", { shiftKey: true }))).toBe("G");
    expect(toKeyName(press(" "))).toBe("Space");
  });

  test("takes Command for Control", () => {
    expect(toKeyName(press("k", { ctrlKey: true }))).toBe("Ctrl+k");
    expect(toKeyName(press("K", { metaKey: true, shiftKey: true }))).toBe("Ctrl+Shift+k");
    expect(toKeyName(press("Enter", { ctrlKey: true }))).toBe("Ctrl+Enter");
    expect(toKeyName(press("Enter", { shiftKey: true }))).toBe("Shift+Enter");
  });

  test("has no name for a key that only changes others", () => {
    expect(toKeyName(press("Shift", { shiftKey: true }))).toBeUndefined();
    expect(toKeyName(press("Dead"))).toBeUndefined();
  });
});

describe("KeySequence", () => {
  const known = ["g s", "g t", "j", "s"];

  test("finds one key, and two after each other", () => {
    const sequence = new KeySequence();
    expect(sequence.press("j", 0, known)).toEqual({ keys: "j" });
    expect(sequence.press("g", 10, known)).toBe("waiting");
    expect(sequence.press("s", 20, known)).toEqual({ keys: "g s" });
    expect(sequence.press("s", 30, known)).toEqual({ keys: "s" });
  });

  test("forgets the first key after a while", () => {
    const sequence = new KeySequence();
    expect(sequence.press("g", 0, known)).toBe("waiting");
    expect(sequence.press("t", 5_000, known)).toBeUndefined();
  });

  test("takes the second key alone where the two mean nothing together", () => {
    const sequence = new KeySequence();
    sequence.press("g", 0, known);
    expect(sequence.press("j", 10, known)).toEqual({ keys: "j" });
    sequence.press("g", 20, known);
    expect(sequence.press("g", 30, known)).toBe("waiting");
    expect(sequence.press("t", 40, known)).toEqual({ keys: "g t" });
  });
});

test("toKeyCaps() shows keys as a keyboard has them", () => {
  expect(toKeyCaps("Ctrl+k", false)).toEqual(["Ctrl", "K"]);
  expect(toKeyCaps("Ctrl+Shift+Enter", true)).toEqual(["⌘", "⇧", "Enter"]);
  expect(toKeyCaps("g s", false)).toEqual(["g", "s"]);
  expect(toKeyCaps("+", false)).toEqual(["+"]);
  expect(toKeyCaps("Escape", false)).toEqual(["Esc"]);
});
