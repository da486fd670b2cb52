// A piece of printed text. Standard error has a line at its side.

import type { VNode } from "preact";
import { memo } from "preact/compat";
import { AnsiText } from "../../../parts/rich/ansi-text.tsx";
import type { OutputItem } from "../../../state/sessions/console/output-items.ts";
import styles from "./output-text.module.css";

interface OutputTextProps {
  readonly item: Extract<OutputItem, { readonly kind: "text" }>;
}

/** Longer pieces are laid out when they are seen: a flood of output would otherwise cost a layout of all of it for each frame. */
const LONG_CHARACTERS = 2_000;
const LINE_PX = 20;

export const OutputText = memo(({ item }: OutputTextProps): VNode => {
  const { stream, style, text } = item;
  // The newline at the end of a piece is the break to the next one.
  const shown = text.replace(/[\r\n]$/, "");
  const isLong = shown.length > LONG_CHARACTERS;
  return (
    <div
      class={`${stream === "stderr" ? styles["stderr"] : styles["stdout"]} ${isLong ? styles["long"] : ""}`}
      title={stream === "stderr" ? "stderr" : undefined}
      style={isLong ? { containIntrinsicSize: `auto ${shown.split("\n").length * LINE_PX}px` } : {}}
    >
      {stream === "stderr" && <span class="unseen">Standard error: </span>}
      <AnsiText text={style + shown} />
    </div>
  );
});
