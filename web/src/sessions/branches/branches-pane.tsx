// The states that the session can go to, as a tree: the newest above, the present marked. A checkpoint takes the session back to it; a fork
// is another session.

import type { VNode } from "preact";
import { Button } from "../../parts/button.tsx";
import { Age } from "../../parts/feedback/age.tsx";
import { Icon } from "../../parts/icon.tsx";
import { useConfirm } from "../../parts/overlay/dialog.tsx";
import { Menu } from "../../parts/overlay/menu.tsx";
import { toSafeText } from "../../parts/safe-text.ts";
import { usePage } from "../../state/page.ts";
import { toAddress } from "../../state/router.ts";
import type { BranchNode, PlacedNode } from "../../state/sessions/branch-tree.ts";
import type { Branches } from "../../state/sessions/branches.ts";
import type { OpenSession } from "../../state/sessions/open-session.ts";
import type { SessionActions } from "../use-session-actions.ts";
import { BranchLines, COLUMN_PX, ROW_PX } from "./branch-lines.tsx";
import styles from "./branches-pane.module.css";

interface BranchesPaneProps {
  readonly open: OpenSession;
  readonly branches: Branches;
  readonly actions: SessionActions;
}

/** More columns than this overlap. */
const MAX_COLUMNS = 8;

export function BranchesPane({ open, branches, actions }: BranchesPaneProps): VNode {
  const nodes = branches.nodes.value;
  const columns = Math.min(MAX_COLUMNS, Math.max(1, ...nodes.map(({ column }) => column + 1)));
  const isAlone = nodes.length <= 2;
  return (
    <div class={styles["pane"]}>
      <header class={styles["header"]}>
        <Button
          kind="quiet"
          onClick={actions.checkpoint}
          disabled={actions.noCheckpoint !== undefined}
          title={actions.noCheckpoint}
        >
          <Icon name="clock" />
          Checkpoint
        </Button>
        <Button kind="quiet" onClick={actions.fork} disabled={actions.noFork !== undefined} title={actions.noFork}>
          <Icon name="branch" />
          Fork
        </Button>
      </header>
      <div class={styles["scroller"]}>
        <div class={styles["tree"]}>
          <BranchLines nodes={nodes} columns={columns} />
          <ol class={styles["rows"]} style={{ paddingLeft: `${columns * COLUMN_PX + 8}px` }}>
            {nodes.map((placed) => (
              <Row key={placed.node.key} placed={placed} open={open} branches={branches} actions={actions} />
            ))}
          </ol>
        </div>
        {(isAlone || actions.noCheckpoint !== undefined) && (
          <p class={styles["note"]}>
            {actions.noCheckpoint ??
              "A checkpoint keeps the variables as they are now: rewind to it at any time. A fork is a live copy, as a session of its own."}
          </p>
        )}
      </div>
    </div>
  );
}

function Row({ placed, open, branches, actions }: BranchesPaneProps & { readonly placed: PlacedNode }): VNode {
  const { node } = placed;
  const { router, notices } = usePage();
  const confirm = useConfirm();
  const drop = async (id: string): Promise<void> => {
    const text = "Its memory is freed, and nothing can go back to it.";
    if (!(await confirm({ title: "Drop this checkpoint?", text, action: "Drop it", isDanger: true }))) return;
    await branches.drop(id).catch((error: unknown) => notices.failed("drop the checkpoint", error));
  };
  const isPresent = node.kind === "present";
  return (
    <li
      class={`${styles["row"]} ${isPresent ? styles["present"] : ""}`}
      style={{ height: `${ROW_PX}px` }}
      aria-current={isPresent}
    >
      <span class={styles["label"]}>
        <Label node={node} open={open} branches={branches} actions={actions} />
      </span>
      <span class={styles["after"]}>{afterOf(node)}</span>
      <span class={styles["age"]}>{Number.isFinite(node.time) && <Age since={node.time} />}</span>
      <span class={styles["menu"]}>
        {node.kind === "checkpoint" && (
          <Menu
            label="Actions of the checkpoint"
            items={[
              {
                label: "Rewind to it",
                icon: "arrow-left",
                isDisabled: actions.isEnded,
                onPick: () => actions.rewind(node.id),
              },
              {
                label: "Drop it",
                icon: "trash",
                isDanger: true,
                isDisabled: actions.isEnded,
                onPick: () => void drop(node.id),
              },
            ]}
          />
        )}
        {node.kind === "fork" && (
          <Menu
            label="Actions of the fork"
            items={[
              {
                label: "Open it",
                icon: "arrow-right",
                onPick: () => router.go({ place: "sessions", path: [node.id] }),
              },
            ]}
          />
        )}
      </span>
    </li>
  );
}

function Label({ node, branches, actions }: BranchesPaneProps & { readonly node: BranchNode }): VNode {
  switch (node.kind) {
    case "present":
      return <strong>Now</strong>;
    case "checkpoint":
      return (
        <button
          type="button"
          class={styles["go"]}
          disabled={actions.isEnded}
          title="Rewind to it"
          onClick={() => actions.rewind(node.id)}
        >
          {node.before !== undefined ? (
            <>
              Before [{node.before.count}] <code>{firstLine(node.before.code)}</code>
            </>
          ) : node.isAutomatic ? (
            "Automatic"
          ) : (
            "Checkpoint"
          )}
        </button>
      );
    case "fork":
      return (
        <a class={styles["go"]} href={toAddress({ place: "sessions", path: [node.id] })}>
          Fork <code>{toSafeText(node.id)}</code>
        </a>
      );
    case "left":
      return <span class={styles["left"]}>Abandoned</span>;
    case "start": {
      const { forkedFrom } = node;
      if (forkedFrom === null) return <span>Start</span>;
      const from = <code>{toSafeText(forkedFrom.sessionId)}</code>;
      return branches.isAlive(forkedFrom.sessionId) ? (
        <a class={styles["go"]} href={toAddress({ place: "sessions", path: [forkedFrom.sessionId] })}>
          Forked from {from}
        </a>
      ) : (
        <span>Forked from {from}, which has ended</span>
      );
    }
  }
}

const MAX_CODE = 80;

function firstLine(code: string): string {
  return toSafeText(code.trimStart().split("\n", 1)[0] ?? "", { maxCharacters: MAX_CODE });
}

/** Empty where its name says it. */
function afterOf(node: BranchNode): string {
  if (node.kind === "checkpoint" && node.before !== undefined) return "";
  const after = node.kind === "start" ? (node.forkedFrom?.executionCount ?? 0) : node.after;
  return after === 0 ? "" : `after [${after}]`;
}
