// Markdown of a session or a model, as elements of an allow-list.

import type { VNode } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import styles from "./markdown-output.module.css";
import { renderMarkdown } from "./render-markdown.ts";

interface MarkdownOutputProps {
  readonly text: string;
  /** Stands there where the text is not rendered. */
  readonly fallback: VNode;
}

export default function MarkdownOutput({ text, fallback }: MarkdownOutputProps): VNode {
  const place = useRef<HTMLDivElement>(null);
  const [isRefused, setRefused] = useState(false);
  useLayoutEffect(() => {
    const rendered = renderMarkdown(text);
    setRefused(rendered === undefined);
    if (rendered !== undefined) place.current?.replaceChildren(rendered);
  }, [text]);
  return (
    <>
      {isRefused && fallback}
      <div ref={place} class={styles["markdown"]} hidden={isRefused} />
    </>
  );
}
