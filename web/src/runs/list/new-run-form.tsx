// Asks a question: one line at first; files, the model and limits when it is wanted.

import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { Button } from "../../parts/button.tsx";
import { Icon } from "../../parts/icon.tsx";
import { usePage } from "../../state/page.ts";
import { startRun, type LimitFields, type NamedFile, type NewRun } from "../../state/runs/start-run.ts";
import { AddFiles, FileList, namedFiles } from "./new-run-files.tsx";
import { whyRefused } from "./why-refused.ts";
import styles from "./new-run-form.module.css";

export const QUESTION_FIELD = "run-question";
const NO_LIMITS: LimitFields = { tokens: "", costUsd: "", maxDepth: "", minutes: "" };
const LIMITS: readonly { readonly field: keyof LimitFields; readonly name: string; readonly hint: string }[] = [
  { field: "tokens", name: "Tokens", hint: "none" },
  { field: "costUsd", name: "Cost in USD", hint: "none" },
  { field: "minutes", name: "Minutes", hint: "30" },
  { field: "maxDepth", name: "Depth", hint: "4" },
];
const MODES: readonly { readonly mode: NewRun["mode"]; readonly name: string }[] = [
  { mode: "auto", name: "auto: by the size of the files" },
  { mode: "rlm", name: "rlm: with a Python session" },
  { mode: "direct", name: "direct: one model call" },
];

export function NewRunForm(): VNode {
  const { runtime, router, notices } = usePage();
  const [query, setQuery] = useState("");
  const [files, setFiles] = useState<readonly NamedFile[]>([]);
  const [model, setModel] = useState("");
  const [mode, setMode] = useState<NewRun["mode"]>("auto");
  const [limits, setLimits] = useState(NO_LIMITS);
  const [isOpen, setIsOpen] = useState(false);
  const [isDropping, setIsDropping] = useState(false);
  const [starting, setStarting] = useState<"no" | "yes" | { readonly why: string }>("no");

  const add = (added: readonly NamedFile[]): void => {
    const names = new Set(added.map(({ name }) => name));
    setFiles((before) => [...before.filter(({ name }) => !names.has(name)), ...added]);
  };
  const start = async (): Promise<void> => {
    if (query.trim() === "" || starting === "yes") return;
    setStarting("yes");
    try {
      const id = await startRun(runtime, { query: query.trim(), files, model, mode, limits });
      router.go({ place: "runs", path: [id] });
    } catch (error) {
      setStarting({ why: whyRefused(error) });
    }
  };
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    void start();
  };
  const drop = (event: DragEvent): void => {
    event.preventDefault();
    setIsDropping(false);
    if (event.dataTransfer === null) return;
    namedFiles(event.dataTransfer).then(add, (error: unknown) => notices.failed("read what was dropped", error));
  };
  const drag = (event: DragEvent): void => {
    if (event.dataTransfer?.types.includes("Files") !== true) return;
    event.preventDefault();
    setIsDropping(true);
  };
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions -- files can also be chosen with a button
    <form
      class={`${styles["form"]} ${isDropping ? styles["dropping"] : ""}`}
      aria-label="Start a run"
      onSubmit={submit}
      onDragOver={drag}
      onDragLeave={() => setIsDropping(false)}
      onDrop={drop}
    >
      <textarea
        id={QUESTION_FIELD}
        class={styles["question"]}
        rows={Math.min(8, Math.max(2, query.split("\n").length))}
        placeholder="Ask a question. Drop files here for it to be about."
        aria-label="Question"
        value={query}
        onInput={({ currentTarget }) => setQuery(currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
          event.preventDefault();
          void start();
        }}
      />
      {files.length > 0 && (
        <FileList files={files} onRemove={(name) => setFiles(files.filter((file) => file.name !== name))} />
      )}
      {isOpen && (
        <div class={styles["options"]}>
          <label>
            Model
            <input
              placeholder="the server's"
              value={model}
              onInput={({ currentTarget }) => setModel(currentTarget.value)}
            />
          </label>
          <label>
            Mode
            <select value={mode} onChange={({ currentTarget }) => setMode(currentTarget.value as NewRun["mode"])}>
              {MODES.map((one) => (
                <option key={one.mode} value={one.mode}>
                  {one.name}
                </option>
              ))}
            </select>
          </label>
          {LIMITS.map(({ field, name, hint }) => (
            <label key={field}>
              {name}
              <input
                inputMode="decimal"
                placeholder={hint}
                value={limits[field]}
                onInput={({ currentTarget }) => setLimits({ ...limits, [field]: currentTarget.value })}
              />
            </label>
          ))}
        </div>
      )}
      {typeof starting === "object" && (
        <p role="alert" class={styles["why"]}>
          {starting.why}
        </p>
      )}
      <div class={styles["bar"]}>
        <AddFiles onAdd={add} />
        <Button kind="quiet" aria-expanded={isOpen} onClick={() => setIsOpen(!isOpen)}>
          <Icon name={isOpen ? "chevron-down" : "chevron-right"} />
          Model and limits
        </Button>
        <Button kind="main" type="submit" disabled={query.trim() === "" || starting === "yes"} title="Ctrl+Enter">
          {starting === "yes" ? "Starting" : "Run"}
        </Button>
      </div>
    </form>
  );
}
