// Short messages at the edge of the page. What failed is read out at once, what was done when there is a pause.

import type { VNode } from "preact";
import { Icon } from "../parts/icon.tsx";
import { toSafeText } from "../parts/safe-text.ts";
import type { Notice } from "../state/notices.ts";
import { usePage } from "../state/page.ts";
import styles from "./notices.module.css";

export function NoticeList(): VNode {
  const { notices } = usePage();
  const list = notices.list.value;
  const show = (notice: Notice): VNode => (
    <Shown key={notice.id} notice={notice} onDismiss={() => notices.dismiss(notice.id)} />
  );
  // Both are always in the page: readers of the screen hear only what changes in a place that they know.
  return (
    <div class={styles["notices"]}>
      <div role="alert" class={styles["group"]}>
        {list.filter(({ kind }) => kind === "failed").map(show)}
      </div>
      <div role="status" class={styles["group"]}>
        {list.filter(({ kind }) => kind === "done").map(show)}
      </div>
    </div>
  );
}

function Shown({ notice, onDismiss }: { readonly notice: Notice; readonly onDismiss: () => void }): VNode {
  const { kind, text } = notice;
  return (
    <div class={`${styles["notice"]} ${styles[kind]}`}>
      <Icon name={kind === "failed" ? "error" : "check"} />
      <p>{toSafeText(text, { hasLines: true, maxCharacters: 600 })}</p>
      <button type="button" aria-label="Dismiss" title="Dismiss" onClick={onDismiss}>
        <Icon name="close" />
      </button>
    </div>
  );
}
