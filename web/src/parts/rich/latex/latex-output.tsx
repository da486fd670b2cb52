// LaTeX as MathML, which browsers draw by themselves: no fonts, no styles, and no HTML of a session.

import { render } from "katex";
import type { VNode } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import styles from "./latex-output.module.css";
import { definesMacros, readFormula } from "./read-formula.ts";

interface LaTeXOutputProps {
  readonly text: string;
  /** Stands there where the text is not rendered. */
  readonly fallback: VNode;
}

const MAX_CHARACTERS = 20_000;

export default function LaTeXOutput({ text, fallback }: LaTeXOutputProps): VNode {
  const place = useRef<HTMLDivElement>(null);
  const [isRefused, setRefused] = useState(false);
  useLayoutEffect(() => {
    setRefused(place.current === null || !draw(text, place.current));
  }, [text]);
  return (
    <>
      {isRefused && fallback}
      <div ref={place} class={styles["formula"]} hidden={isRefused} />
    </>
  );
}

/** Whether it is a formula that can be drawn. */
function draw(text: string, place: HTMLElement): boolean {
  if (text.length > MAX_CHARACTERS || definesMacros(text)) return false;
  const { formula, isDisplay } = readFormula(text);
  try {
    render(formula, place, {
      output: "mathml",
      displayMode: isDisplay,
      throwOnError: true,
      strict: "ignore",
      trust: false,
      maxExpand: 1_000,
      maxSize: 20,
    });
    return true;
  } catch {
    place.replaceChildren();
    return false;
  }
}
