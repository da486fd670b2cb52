// What can be done with one execution.

import type { VNode } from "preact";
import { Menu, type MenuAction } from "../../../parts/overlay/menu.tsx";
import { saveBlob } from "../../save-blob.ts";
import type { CellViewProps } from "./cell-view.tsx";

export function CellMenu({ cell, console, actions, isLast, onRun, onFailure }: CellViewProps): VNode {
  const { isEnded, noCheckpoint, noFork } = actions;
  const isOpen = cell.state === "waiting" || cell.state === "running";
  const attempt = (what: string, action: () => Promise<unknown>): void => {
    action().catch((error: unknown) => onFailure(what, error));
  };
  const download = async (): Promise<void> => {
    const pieces: BlobPart[] = [];
    for await (const piece of console.outputOf(cell.id)) pieces.push(piece as Uint8Array<ArrayBuffer>);
    saveBlob(new Blob(pieces, { type: "application/octet-stream" }), `${cell.id}.txt`);
  };
  /** The state after an execution is the present one until the next begins. */
  const notHere = isOpen ? "when it has ended" : isLast ? undefined : "only after the last execution";
  const items: readonly (MenuAction | "separator")[] = [
    { label: "Run again", icon: "play", isDisabled: isEnded || cell.isCodeCut, onPick: () => onRun(cell.code) },
    {
      label: "Copy the code",
      icon: "copy",
      onPick: () => attempt("copy the code", () => navigator.clipboard.writeText(cell.code)),
    },
    {
      label: "Copy a link to it",
      icon: "link",
      onPick: () => attempt("copy the link", () => navigator.clipboard.writeText(linkTo(cell.id))),
    },
    { label: "Download the output", icon: "download", onPick: () => attempt("download the output", download) },
    "separator",
    ...(isOpen
      ? [
          {
            label: cell.state === "waiting" ? "Take it out of the queue" : "Interrupt",
            icon: "stop" as const,
            onPick: () => attempt("interrupt it", () => console.cancel(cell.id)),
          },
        ]
      : []),
    {
      label: "Checkpoint here",
      icon: "clock",
      hint: noCheckpoint ?? notHere,
      isDisabled: noCheckpoint !== undefined || notHere !== undefined,
      onPick: actions.checkpoint,
    },
    {
      label: "Fork from here",
      icon: "branch",
      hint: noFork ?? notHere,
      isDisabled: noFork !== undefined || notHere !== undefined,
      onPick: actions.fork,
    },
  ];
  return <Menu label={`Actions of execution ${cell.count ?? "in the queue"}`} items={items} />;
}

function linkTo(id: string): string {
  const [session = ""] = location.hash.replace(/^#\/sessions\//, "").split(/[/?]/, 1);
  return `${location.origin}${location.pathname}#/sessions/${session}/executions/${encodeURIComponent(id)}`;
}
