// What threads and children print after the execution that started them: in a strip of its own, above the editor.

import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { Button } from "../../parts/button.tsx";
import { Icon } from "../../parts/icon.tsx";
import type { Console } from "../../state/sessions/console/console.ts";
import styles from "./background-strip.module.css";
import { OutputText } from "./cell/output-text.tsx";

export function BackgroundStrip({ console }: { readonly console: Console }): VNode | null {
  const items = console.background.value;
  const [isOpen, setOpen] = useState(false);
  if (items.length === 0) return null;
  const shown = isOpen ? items : items.slice(-1);
  return (
    <section class={styles["strip"]} aria-label="Background output">
      <header class={styles["header"]}>
        <button type="button" class={styles["title"]} aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          <Icon name={isOpen ? "chevron-down" : "chevron-right"} />
          Background output
        </button>
        <Button kind="quiet" aria-label="Clear the background output" onClick={() => console.clearBackground()}>
          <Icon name="close" />
        </Button>
      </header>
      <div class={isOpen ? styles["open"] : styles["folded"]}>
        {shown.map((item) => item.kind === "text" && <OutputText key={item.key} item={item} />)}
      </div>
    </section>
  );
}
