// Types into the editor: keys by name in braces, everything else as text.

import { Editor, type EditorOptions, type EditorAction } from "../../../src/cli/repl/editor/editor.ts";
import type { Key } from "../../../src/cli/repl/editor/keys.ts";

/** `def f():{enter}return 1` */
export function toKeys(script: string): Key[] {
  return [...script.matchAll(/\{(?<name>[^{}]+)\}|(?<text>[^{}]+|[{}])/g)].map(({ groups }) =>
    groups?.["name"] === undefined
      ? { kind: "text", text: groups?.["text"] ?? "" }
      : { kind: "key", name: groups["name"] },
  );
}

/** The actions that the keys ask for. */
export function type(editor: Editor, script: string): EditorAction[] {
  return toKeys(script).flatMap((key) => editor.press(key) ?? []);
}

export function edited(script: string, options: Partial<EditorOptions> = {}): Editor {
  const editor = new Editor({ kind: "code", ...options });
  type(editor, script);
  return editor;
}

/** The text with a bar where the cursor is. */
export function shown({ text, cursor }: Editor): string {
  return `${text.slice(0, cursor)}|${text.slice(cursor)}`;
}
