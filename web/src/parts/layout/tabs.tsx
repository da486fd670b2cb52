// Several panels of which one is seen. Arrow keys move between the tabs.

import type { ComponentChildren, VNode } from "preact";
import { useId } from "preact/hooks";
import styles from "./tabs.module.css";

export interface Tab<Id extends string> {
  readonly id: Id;
  readonly title: string;
  /** How much is in it. */
  readonly count?: number | undefined;
}

interface TabsProps<Id extends string> {
  readonly label: string;
  readonly tabs: readonly Tab<Id>[];
  readonly selected: Id;
  readonly onSelect: (id: Id) => void;
  /** At the right end of the row of tabs. */
  readonly actions?: ComponentChildren;
  /** The panel of the selected tab. */
  readonly children: ComponentChildren;
}

export function Tabs<Id extends string>(props: TabsProps<Id>): VNode {
  const { label, tabs, selected, onSelect, actions, children } = props;
  const prefix = useId();
  const onKeyDown = (event: KeyboardEvent & { readonly currentTarget: HTMLElement }): void => {
    const at = tabs.findIndex(({ id }) => id === selected);
    const to = nextTab(event.key, at, tabs.length);
    const next = to === undefined ? undefined : tabs[to];
    if (next === undefined) return;
    event.preventDefault();
    onSelect(next.id);
    event.currentTarget.parentElement?.querySelector<HTMLElement>(`[data-tab="${CSS.escape(next.id)}"]`)?.focus();
  };
  return (
    <div class={styles["tabs"]}>
      <div class={styles["row"]}>
        <div role="tablist" aria-label={label} class={styles["list"]}>
          {tabs.map(({ id, title, count }) => (
            <button
              key={id}
              type="button"
              role="tab"
              id={`${prefix}-${id}`}
              data-tab={id}
              class={styles["tab"]}
              aria-selected={id === selected}
              aria-controls={`${prefix}-panel`}
              tabIndex={id === selected ? 0 : -1}
              onClick={() => onSelect(id)}
              onKeyDown={onKeyDown}
            >
              {title}
              {count !== undefined && <span class={`figures ${styles["count"]}`}>{count.toLocaleString("en")}</span>}
            </button>
          ))}
        </div>
        {actions}
      </div>
      <div id={`${prefix}-panel`} role="tabpanel" aria-labelledby={`${prefix}-${selected}`} class={styles["panel"]}>
        {children}
      </div>
    </div>
  );
}

function nextTab(key: string, at: number, count: number): number | undefined {
  switch (key) {
    case "ArrowRight":
      return (at + 1) % count;
    case "ArrowLeft":
      return (at - 1 + count) % count;
    case "Home":
      return 0;
    case "End":
      return count - 1;
    default:
      return undefined;
  }
}
