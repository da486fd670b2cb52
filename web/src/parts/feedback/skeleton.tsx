// What stands where something is still loading. It has the size of what comes, and is not seen before 200 ms, so that what comes at once
// does not flash.

import type { VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import styles from "./skeleton.module.css";

interface SkeletonProps {
  /** How many lines come. Default: 3. */
  readonly lines?: number;
  /** The height of one, in pixels. Default: 20, as text has it. */
  readonly lineHeight?: number;
  /** What is loading, for readers of the screen. Default: "Loading". */
  readonly label?: string;
}

const HIDDEN_MS = 200;
/** As text has them, not like a grid. */
const WIDTHS = ["92%", "78%", "85%", "64%", "88%"];

export function Skeleton({ lines = 3, lineHeight = 20, label = "Loading" }: SkeletonProps): VNode {
  const [isSeen, setSeen] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setSeen(true), HIDDEN_MS);
    return () => clearTimeout(timer);
  }, []);
  return (
    <div role="status" class={styles["skeleton"]}>
      {isSeen && <span class="unseen">{label}</span>}
      {Array.from({ length: lines }, (_, index) => (
        <div key={index} class={styles["line"]} style={{ height: `${lineHeight}px` }} aria-hidden="true">
          {isSeen && <div class={styles["bar"]} style={{ width: WIDTHS[index % WIDTHS.length] ?? "80%" }} />}
        </div>
      ))}
    </div>
  );
}
