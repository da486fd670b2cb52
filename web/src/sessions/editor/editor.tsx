// Where code is typed. The editor itself is loaded when it is first shown; until then a plain field of the same size takes the code.

import type { VNode } from "preact";
import type { RefObject } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { CodeEditor, EditorPorts } from "./code-editor.ts";
import styles from "./editor.module.css";

interface EditorProps extends EditorPorts {
  /** Filled once the editor is there. */
  readonly handle: RefObject<CodeEditor | null>;
  /** What was typed before in this session. */
  readonly draft: { code: string };
  /** The editor could not be loaded. */
  readonly onFailure: (error: unknown) => void;
}

export function Editor({ handle, draft, ...ports }: EditorProps): VNode {
  const host = useRef<HTMLDivElement>(null);
  const field = useRef<HTMLTextAreaElement>(null);
  const latest = useRef(ports);
  latest.current = ports;
  const [isReady, setReady] = useState(false);

  useEffect(() => {
    let editor: CodeEditor | undefined;
    let isGone = false;
    const load = async (): Promise<void> => {
      const { createCodeEditor } = await import("./code-editor.ts");
      if (isGone || host.current === null) return;
      const typed = field.current?.value ?? draft.code;
      const hadFocus = document.activeElement === field.current;
      editor = createCodeEditor(host.current, {
        run: (code) => latest.current.run(code),
        interrupt: () => latest.current.interrupt(),
        recall: (direction, current) => latest.current.recall(direction, current),
        complete: (code, cursor) => latest.current.complete(code, cursor),
        signature: (code, cursor) => latest.current.signature(code, cursor),
      });
      if (typed !== "") editor.set(typed);
      handle.current = editor;
      setReady(true);
      if (hadFocus) editor.focus();
      host.current.addEventListener("keydown", keepTyping);
    };
    load().catch((error: unknown) => latest.current.onFailure(error));
    return () => {
      isGone = true;
      if (editor !== undefined) draft.code = editor.code;
      editor?.close();
      handle.current = null;
    };
  }, []);

  return (
    <div class={styles["editor"]}>
      <div ref={host} />
      {!isReady && (
        <textarea ref={field} class={styles["field"]} aria-label="Code to run" rows={1} spellcheck={false} />
      )}
    </div>
  );
}

/** Keys that type are no shortcuts of the page, which sees only that they come from an element. */
function keepTyping(event: KeyboardEvent): void {
  if (!event.ctrlKey && !event.metaKey && !event.altKey) event.stopPropagation();
}
