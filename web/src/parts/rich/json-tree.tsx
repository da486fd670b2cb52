// JSON as a tree that folds. Each level shows some entries, and more as the reader asks for them.

import type { VNode } from "preact";
import { useMemo, useState } from "preact/hooks";
import { Button } from "../button.tsx";
import { formatCount } from "../format.ts";
import { Icon } from "../icon.tsx";
import { toSafeText } from "../safe-text.ts";
import styles from "./json-tree.module.css";

const SHOWN_ENTRIES = 50;
const MORE_ENTRIES = 200;
/** Small values are open at first. */
const OPEN_ENTRIES = 20;
const MAX_TEXT = 2_000;

export function JSONTree({ value }: { readonly value: unknown }): VNode {
  return (
    <div class={styles["tree"]} dir="ltr">
      <Value value={value} isOpen />
    </div>
  );
}

interface ValueProps {
  /** Absent: the root. */
  readonly name?: string | undefined;
  readonly value: unknown;
  readonly isOpen?: boolean;
}

function Value({ name, value, isOpen = false }: ValueProps): VNode {
  if (typeof value === "object" && value !== null) return <Branch name={name} value={value} isOpen={isOpen} />;
  return (
    <p class={styles["leaf"]}>
      <Name name={name} />
      <Leaf value={value} />
    </p>
  );
}

function Name({ name }: { readonly name: string | undefined }): VNode | null {
  if (name === undefined) return null;
  return (
    <>
      <span class={styles["name"]}>{toSafeText(name, { maxCharacters: 200 })}</span>
      {": "}
    </>
  );
}

function Leaf({ value }: { readonly value: unknown }): VNode {
  if (typeof value !== "string") return <span class={styles["value"]}>{String(value)}</span>;
  return <span class={styles["text"]}>"{toSafeText(value, { maxCharacters: MAX_TEXT })}"</span>;
}

interface BranchProps {
  readonly name: string | undefined;
  readonly value: object;
  readonly isOpen: boolean;
}

function Branch({ name, value, isOpen: isOpenFirst }: BranchProps): VNode {
  const entries = useMemo(() => Object.entries(value), [value]);
  const isList = Array.isArray(value);
  const [isOpen, setOpen] = useState(isOpenFirst && entries.length <= OPEN_ENTRIES);
  const [shown, setShown] = useState(SHOWN_ENTRIES);
  const [left, right] = isList ? ["[", "]"] : ["{", "}"];
  if (entries.length === 0) {
    return (
      <p class={styles["leaf"]}>
        <Name name={name} />
        {left + right}
      </p>
    );
  }
  return (
    <div>
      <button type="button" class={styles["branch"]} aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        <Icon name={isOpen ? "chevron-down" : "chevron-right"} />
        <Name name={name} />
        {left}
        {!isOpen && (
          <>
            <span class={styles["count"]}>
              {formatCount(entries.length)} {isList ? "items" : "entries"}
            </span>
            {right}
          </>
        )}
      </button>
      {isOpen && (
        <div class={styles["inner"]}>
          {entries.slice(0, shown).map(([key, inner]) => (
            <Value key={key} name={key} value={inner} />
          ))}
          {entries.length > shown && (
            <Button onClick={() => setShown(shown + MORE_ENTRIES)}>
              {formatCount(Math.min(MORE_ENTRIES, entries.length - shown))} more of{" "}
              {formatCount(entries.length - shown)}
            </Button>
          )}
        </div>
      )}
      {isOpen && <p class={styles["leaf"]}>{right}</p>}
    </div>
  );
}
