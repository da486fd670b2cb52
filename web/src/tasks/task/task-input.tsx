// A line for the standard input of a command.

import type { VNode } from "preact";
import { useRef, useState } from "preact/hooks";
import { Button } from "../../parts/button.tsx";
import { toSafeText } from "../../parts/safe-text.ts";
import { useCommands } from "../../state/commands.ts";
import type { OpenTask } from "../../state/tasks/open-task.ts";
import styles from "./task-input.module.css";

export function TaskInput({ task }: { readonly task: OpenTask }): VNode {
  const [line, setLine] = useState("");
  const [problem, setProblem] = useState<string>();
  const field = useRef<HTMLInputElement>(null);
  useCommands([
    { id: "task input", title: "Write to its input", group: "Tasks", keys: "i", run: () => field.current?.focus() },
  ]);
  const attempt = (action: Promise<void>): void => {
    setProblem(undefined);
    action.catch((error: unknown) => setProblem(error instanceof Error ? error.message : String(error)));
  };
  return (
    <form
      class={styles["input"]}
      onSubmit={(event) => {
        event.preventDefault();
        attempt(task.write(`${line}\n`));
        setLine("");
      }}
    >
      <label>
        <span class={styles["label"]}>Input</span>
        <input
          ref={field}
          type="text"
          autocomplete="off"
          spellcheck={false}
          placeholder="A line for the command to read"
          value={line}
          onInput={({ currentTarget }) => setLine(currentTarget.value)}
          onKeyDown={({ key, currentTarget }) => key === "Escape" && currentTarget.blur()}
        />
      </label>
      <Button type="submit">Send</Button>
      <Button kind="quiet" title="End its input, as Ctrl-D would" onClick={() => attempt(task.closeInput())}>
        End
      </Button>
      {problem !== undefined && (
        <p role="alert" class={styles["problem"]}>
          {toSafeText(problem, { hasLines: true })}
        </p>
      )}
    </form>
  );
}
