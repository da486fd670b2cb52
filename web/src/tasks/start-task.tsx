// Asks for a command and where to run it.

import type { VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Button } from "../parts/button.tsx";
import { Dialog } from "../parts/overlay/dialog.tsx";
import { toSafeText } from "../parts/safe-text.ts";
import { usePage } from "../state/page.ts";
import type { TaskList } from "../state/tasks/tasks.ts";
import styles from "./start-task.module.css";

interface StartTaskProps {
  readonly list: TaskList;
  readonly onClose: () => void;
}

const FORM = "start-task";

export function StartTask({ list, onClose }: StartTaskProps): VNode {
  const { router } = usePage();
  const [problem, setProblem] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const sessions = useSessionIds(list);
  const start = async (form: FormData): Promise<void> => {
    const text = (name: string): string => {
      const value = form.get(name);
      return typeof value === "string" ? value.trim() : "";
    };
    const seconds = Number(text("limit"));
    setBusy(true);
    try {
      const id = await list.start({
        command: text("command"),
        session: text("session") || undefined,
        cwd: text("folder") || undefined,
        timeoutMs: seconds > 0 ? seconds * 1_000 : undefined,
        stdin: form.has("input") ? "open" : "none",
      });
      onClose();
      router.go({ place: "tasks", path: [id] });
    } catch (error) {
      setBusy(false);
      setProblem(error instanceof Error ? error.message : String(error));
    }
  };
  return (
    <Dialog
      title="Run a command"
      isWide
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="main" type="submit" form={FORM} disabled={isBusy}>
            Run
          </Button>
        </>
      }
    >
      <form
        id={FORM}
        class={styles["form"]}
        onSubmit={(event) => {
          event.preventDefault();
          void start(new FormData(event.currentTarget));
        }}
      >
        <label class={styles["wide"]}>
          Command, for bash
          <textarea
            name="command"
            required
            autofocus
            rows={3}
            spellcheck={false}
            placeholder="for n in 1 2 3; do echo step $n; sleep 1; done"
            onKeyDown={(event) => {
              if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
              event.preventDefault();
              event.currentTarget.form?.requestSubmit();
            }}
          />
        </label>
        <label>
          Session
          <select name="session">
            <option value="">default</option>
            {sessions
              .filter((id) => id !== "default")
              .map((id) => (
                <option key={id} value={id}>
                  {toSafeText(id)}
                </option>
              ))}
          </select>
        </label>
        <label>
          Folder
          <input name="folder" type="text" autocomplete="off" spellcheck={false} placeholder="Working directory" />
        </label>
        <label>
          Time limit, in seconds
          <input name="limit" type="number" min="0.1" step="any" placeholder="None" />
        </label>
        <label class={styles["check"]}>
          <input name="input" type="checkbox" />
          It reads what I type
        </label>
        {problem !== undefined && (
          <p role="alert" class={styles["problem"]}>
            {toSafeText(problem, { hasLines: true })}
          </p>
        )}
      </form>
    </Dialog>
  );
}

function useSessionIds(list: TaskList): readonly string[] {
  const [ids, setIds] = useState<readonly string[]>([]);
  useEffect(() => {
    list.sessionIds().then(setIds, () => undefined);
  }, [list]);
  return ids;
}
