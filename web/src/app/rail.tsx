// The three places: at the left, where it folds to icons; at the bottom of a phone.

import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { Icon } from "../parts/icon.tsx";
import { useCommands } from "../state/commands.ts";
import { usePage } from "../state/page.ts";
import { toAddress } from "../state/router.ts";
import { PLACES } from "./places.ts";
import styles from "./rail.module.css";

const KEY = "rlm-rail";
/** Narrower windows have better use for the room. */
const WIDE = "(min-width: 80rem)";

export function Rail(): VNode {
  const { router } = usePage();
  const { place: current } = router.route.value;
  const [isFolded, setFolded] = useState(() => {
    const kept = localStorage.getItem(KEY);
    return kept === null ? !matchMedia(WIDE).matches : kept === "folded";
  });
  const fold = (): void => {
    localStorage.setItem(KEY, isFolded ? "open" : "folded");
    setFolded(!isFolded);
  };
  const foldTitle = isFolded ? "Show names in the rail" : "Fold the rail to icons";
  useCommands([{ id: "rail", title: foldTitle, group: "Page", keys: "[", run: fold }]);
  return (
    <nav class={`${styles["rail"]} ${isFolded ? styles["folded"] : ""}`} aria-label="Places">
      <ul>
        {PLACES.map(({ place, name, icon }) => (
          <li key={place}>
            <a href={toAddress({ place })} aria-current={place === current ? "page" : undefined} title={name}>
              <Icon name={icon} />
              <span class={styles["name"]}>{name}</span>
            </a>
          </li>
        ))}
      </ul>
      <button
        type="button"
        class={styles["fold"]}
        aria-label={foldTitle}
        aria-expanded={!isFolded}
        title={foldTitle}
        onClick={fold}
      >
        <Icon name={isFolded ? "chevron-right" : "chevron-left"} />
      </button>
    </nav>
  );
}
