// What can be done with the open session: for buttons, menus, the palette and keys. Each says why where it cannot be done.

import { useConfirm } from "../parts/overlay/dialog.tsx";
import { toSafeText } from "../parts/safe-text.ts";
import { useCommands, type Command } from "../state/commands.ts";
import { usePage } from "../state/page.ts";
import type { OpenSession } from "../state/sessions/open-session.ts";
import type { SessionList } from "../state/sessions/session-list.ts";

export interface SessionActions {
  /** Why there is no fork. Undefined: there is. */
  readonly noFork: string | undefined;
  readonly noCheckpoint: string | undefined;
  readonly noUndo: string | undefined;
  readonly isEnded: boolean;
  readonly isRunning: boolean;
  readonly interrupt: () => void;
  readonly checkpoint: () => void;
  /** Opens the copy. */
  readonly fork: () => void;
  readonly rewind: (checkpointId: string) => void;
  readonly undo: () => void;
  readonly reset: () => void;
  readonly close: () => void;
}

export function useSessionActions(
  open: OpenSession,
  list: SessionList,
  show: (pane: "console" | "variables" | "files" | "branches") => void,
): SessionActions {
  const { router, notices } = usePage();
  const confirm = useConfirm();
  const info = open.info.value;
  const isEnded = open.status.value.state === "ended" || info?.state === "closed";
  const attempt = (what: string, action: () => Promise<unknown>): void => {
    action().catch((error: unknown) => notices.failed(what, error));
  };
  const lacks = (name: "fork" | "checkpoint"): string | undefined => {
    if (isEnded) return "The session has ended";
    if (info === undefined || info.capabilities[name]) return undefined;
    return `The environment ${toSafeText(info.environment)} cannot ${name === "fork" ? "copy a live session" : "keep checkpoints"}`;
  };
  const canUndo = open.parts.value?.branches.checkpoints.some(({ isAutomatic }) => isAutomatic) ?? false;
  const actions: SessionActions = {
    noFork: lacks("fork"),
    noCheckpoint: lacks("checkpoint"),
    noUndo: lacks("checkpoint") ?? (canUndo ? undefined : "Nothing to undo. Choose undo when a session is opened"),
    isEnded,
    isRunning: info?.state === "running",
    interrupt: () => attempt("interrupt the session", () => open.interrupt()),
    checkpoint: () =>
      attempt("take a checkpoint", async () => {
        const { executionCount } = await open.checkpoint();
        notices.done(`Checkpoint taken after [${executionCount}]`);
      }),
    fork: () =>
      attempt("fork the session", async () => {
        const id = await open.fork();
        notices.done(`This is ${id}, a copy of ${open.id}`);
        router.go({ place: "sessions", path: [id] });
      }),
    rewind: (id) => attempt("go back to the checkpoint", () => open.rewind(id)),
    undo: () => attempt("undo the last execution", () => open.undo()),
    reset: () =>
      attempt("reset the session", async () => {
        const text = "All variables are removed. Files stay.";
        if (await confirm({ title: "Reset the session?", text, action: "Reset", isDanger: true })) await open.reset();
      }),
    close: () =>
      attempt("close the session", async () => {
        const title = `Close the session ${toSafeText(open.id)}?`;
        const text = "Its variables and files are gone then, for everybody.";
        if (!(await confirm({ title, text, action: "Close the session", isDanger: true }))) return;
        await open.end();
        await list.refresh();
        router.go({ place: "sessions" });
      }),
  };
  const group = "Session";
  const commands: (Command | false)[] = [
    actions.isRunning && { id: "session-interrupt", title: "Interrupt the code", group, run: actions.interrupt },
    actions.noCheckpoint === undefined && {
      id: "session-checkpoint",
      title: "Take a checkpoint",
      group,
      run: actions.checkpoint,
    },
    actions.noFork === undefined && { id: "session-fork", title: "Fork the session", group, run: actions.fork },
    actions.noUndo === undefined && {
      id: "session-undo",
      title: "Undo the last execution",
      group,
      run: actions.undo,
    },
    !isEnded && { id: "session-reset", title: "Reset the session", group, run: actions.reset },
    !isEnded && { id: "session-close", title: "Close the session", group, run: actions.close },
    { id: "session-variables", title: "Show variables", group, keys: "v", run: () => show("variables") },
    { id: "session-files", title: "Show files", group, keys: "f", run: () => show("files") },
    { id: "session-branches", title: "Show branches", group, keys: "b", run: () => show("branches") },
    { id: "session-list", title: "All sessions", group, keys: "u", run: () => router.go({ place: "sessions" }) },
  ];
  useCommands(commands.filter((command) => command !== false));
  return actions;
}
