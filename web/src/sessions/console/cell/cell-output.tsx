// What an execution printed and displayed, in order. Much text scrolls inside of the cell, and follows its end while it grows.

import type { VNode } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { formatBytes } from "../../../parts/format.ts";
import { RichOutput } from "../../../parts/rich/rich-output.tsx";
import type { Cell } from "../../../state/sessions/console/cell.ts";
import type { Console } from "../../../state/sessions/console/console.ts";
import type { OutputItem } from "../../../state/sessions/console/output-items.ts";
import styles from "./cell-output.module.css";
import { OutputText } from "./output-text.tsx";

interface CellOutputProps {
  readonly cell: Cell;
  readonly console: Console;
  readonly onFailure: (what: string, error: unknown) => void;
}

/** More text than this has a place that scrolls. */
const LONG_LINES = 40;
const LONG_CHARACTERS = 6_000;
const NEAR_END_PX = 32;

export function CellOutput({ cell, console, onFailure }: CellOutputProps): VNode | null {
  const { items } = cell;
  const [isWhole, setWhole] = useState(false);
  const place = useRef<HTMLDivElement>(null);
  const isAtEnd = useRef(true);
  const isLong = isLongText(items);
  const isBounded = isLong && !isWhole;
  useLayoutEffect(() => {
    if (place.current !== null && isBounded && isAtEnd.current) place.current.scrollTop = place.current.scrollHeight;
  }, [items, isBounded]);
  if (items.length === 0) return null;
  const readGap = (): void => {
    console.readGap(cell.id).catch((error: unknown) => onFailure("read the output", error));
  };
  return (
    <div class={styles["output"]}>
      <div
        ref={place}
        class={isBounded ? styles["bounded"] : ""}
        {...(isBounded && { tabIndex: 0, role: "region", "aria-label": `Output of execution ${cell.count ?? ""}` })}
        onScroll={({ currentTarget: { scrollTop, scrollHeight, clientHeight } }) => {
          isAtEnd.current = scrollHeight - scrollTop - clientHeight < NEAR_END_PX;
        }}
      >
        {items.map((item) => (
          <Item key={`${item.kind} ${item.key}`} item={item} onReadGap={readGap} />
        ))}
      </div>
      {isLong && (
        <button type="button" class={styles["more"]} aria-expanded={isWhole} onClick={() => setWhole(!isWhole)}>
          {isWhole ? "Let the output scroll" : "Unfold the output"}
        </button>
      )}
    </div>
  );
}

function Item({ item, onReadGap }: { readonly item: OutputItem; readonly onReadGap: () => void }): VNode | null {
  switch (item.kind) {
    case "text":
      return <OutputText item={item} />;
    case "display":
      return Object.keys(item.data).length === 0 ? null : (
        <div class={styles["display"]}>
          <RichOutput bundle={item.data} />
        </div>
      );
    case "gap":
      return item.offset === undefined ? (
        <p class={styles["gap"]}>{formatBytes(item.bytes)} of output are no longer kept</p>
      ) : (
        <p class={styles["gap"]}>
          {formatBytes(item.bytes)} not shown.{" "}
          <button type="button" class={styles["load"]} onClick={onReadGap}>
            Load more
          </button>
        </p>
      );
  }
}

function isLongText(items: readonly OutputItem[]): boolean {
  let characters = 0;
  let lines = 0;
  for (const item of items) {
    if (item.kind !== "text") continue;
    characters += item.text.length;
    lines += item.text.split("\n").length;
    if (characters > LONG_CHARACTERS || lines > LONG_LINES) return true;
  }
  return false;
}
