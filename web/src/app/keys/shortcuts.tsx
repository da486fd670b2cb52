// The keys that mean something here, by group.

import type { VNode } from "preact";
import { Dialog } from "../../parts/overlay/dialog.tsx";
import type { Command } from "../../state/commands.ts";
import { usePage } from "../../state/page.ts";
import { KeyCaps } from "./key-caps.tsx";
import styles from "./shortcuts.module.css";

const OF_PAGE = ["Go", "Page"];

export default function Shortcuts({ onClose }: { readonly onClose: () => void }): VNode {
  const withKeys = usePage().commands.list.value.filter(({ keys }) => keys !== undefined);
  // What belongs to the view first.
  const groups = new Set([
    ...withKeys.map(({ group }) => group).filter((group) => !OF_PAGE.includes(group)),
    ...OF_PAGE,
  ]);
  return (
    <Dialog title="Keyboard shortcuts" isWide onClose={onClose}>
      <div class={styles["groups"]}>
        {[...groups].map((title) => (
          <Group key={title} title={title} commands={withKeys.filter(({ group }) => group === title)} />
        ))}
      </div>
    </Dialog>
  );
}

function Group({ title, commands }: { readonly title: string; readonly commands: readonly Command[] }): VNode {
  return (
    <section class={styles["group"]}>
      <h3>{title}</h3>
      <dl>
        {commands.map(({ id, title: name, keys = "" }) => (
          <div key={id} class={styles["row"]}>
            <dt>{name}</dt>
            <dd>
              <KeyCaps keys={keys} />
            </dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
