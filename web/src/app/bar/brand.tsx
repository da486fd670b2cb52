// The name of the page, which leads to its first place.

import type { VNode } from "preact";
import { toAddress } from "../../state/router.ts";
import styles from "./top-bar.module.css";

export function Brand(): VNode {
  return (
    <a class={styles["name"]} href={toAddress({ place: "sessions" })}>
      <span aria-hidden="true" class={styles["logo"]}>
        ›_
      </span>
      <span class={styles["word"]}>RLM Runtime</span>
    </a>
  );
}

/** What is painted first, before the server has answered: the bar as it will be, with nothing else on it. */
export function BrandBar(): VNode {
  return (
    <header class={styles["bar"]}>
      <Brand />
    </header>
  );
}
