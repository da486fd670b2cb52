// Keys as they are printed on a keyboard.

import type { VNode } from "preact";
import { toKeyCaps } from "./key-sequence.ts";
import { isMac } from "./use-keys.ts";
import styles from "./key-caps.module.css";

export function KeyCaps({ keys }: { readonly keys: string }): VNode {
  return (
    <span class={styles["caps"]}>
      {toKeyCaps(keys, isMac()).map((cap, index) => (
        <kbd key={index}>{cap}</kbd>
      ))}
    </span>
  );
}
