// Python with highlighting, to read. Plain text until the highlighter is loaded, and where the code is very long.

import { signal } from "@preact/signals";
import type { VNode } from "preact";
import { useEffect, useMemo } from "preact/hooks";
import styles from "./python-code.module.css";
import type { CodePart } from "./python-highlight.ts";

type Highlight = (code: string) => readonly CodePart[];

/** Loaded once for the page. */
const highlighter = signal<Highlight | undefined>(undefined);
const MAX_HIGHLIGHTED = 100_000;

interface PythonCodeProps {
  readonly code: string;
  /** Long lines continue below. Default: they scroll. */
  readonly wraps?: boolean;
}

export function PythonCode({ code, wraps = false }: PythonCodeProps): VNode {
  useEffect(() => {
    if (highlighter.peek() !== undefined) return;
    import("./python-highlight.ts").then(
      ({ highlightPython }) => void (highlighter.value = highlightPython),
      () => undefined, // the server is gone: plain text, until the next code is shown
    );
  }, []);
  const highlight = highlighter.value;
  const parts = useMemo(
    () => (highlight === undefined || code.length > MAX_HIGHLIGHTED ? undefined : highlight(code)),
    [highlight, code],
  );
  return (
    <pre class={`${styles["code"]} ${wraps ? styles["wraps"] : ""}`}>
      <code>
        {parts === undefined
          ? code
          : parts.map(({ text, kind }, index) =>
              kind === undefined ? (
                text
              ) : (
                <span key={index} class={styles[kind]}>
                  {text}
                </span>
              ),
            )}
      </code>
    </pre>
  );
}
