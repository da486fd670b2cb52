// The viewer inside of an exported run: the same view as in the page, with data from the file and no server.

import { render, type VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import { RunBody, type RunView } from "../runs/page/run-body.tsx";
import { runCommands } from "../runs/page/run-commands.ts";
import { RunProvider } from "../runs/run-context.ts";
import { decode } from "../state/route.ts";
import { RunState } from "../state/runs/run.ts";
import "../style/tokens.css";
import "../style/base.css";
import { EMBEDDED } from "./embedded.ts";
import { EmbeddedRun } from "./embedded-run.ts";
import styles from "./export.module.css";

const root = document.querySelector("#page");
if (root !== null) render(<Viewer run={new RunState(new EmbeddedRun(document))} />, root);

function Viewer({ run }: { readonly run: RunState }): VNode {
  useEffect(() => {
    const following = run.open();
    return () => following[Symbol.dispose]();
  }, [run]);
  const [view, setView] = useState<RunView>("timeline");
  useAddress(run);
  useKeys(run);
  const omitted = document.querySelector(`#${EMBEDDED.omitted}`)?.textContent ?? "";
  return (
    <RunProvider value={{ run, hrefOf: (id) => `#/${id}` }}>
      <div class={styles["viewer"]}>
        <header class={styles["bar"]}>
          <strong>RLM Runtime</strong>
          <span>{`run ${run.source.runId}, exported`}</span>
          {omitted !== "" && <span class={styles["omitted"]}>{omitted}</span>}
        </header>
        <main class={styles["main"]}>
          <RunBody view={view} onView={setView} />
        </main>
      </div>
    </RunProvider>
  );
}

/** `#/n3/2` selects that step, and the other way round. */
function useAddress(run: RunState): void {
  useEffect(() => {
    const follow = (): void => {
      const id = decode(location.hash.replace(/^#\//, ""));
      if (id !== "") run.select(id);
    };
    follow();
    addEventListener("hashchange", follow);
    const stop = run.selectedId.subscribe((id) => {
      if (id !== undefined) history.replaceState(null, "", `#/${id}`);
    });
    return () => {
      removeEventListener("hashchange", follow);
      stop();
    };
  }, [run]);
}

function useKeys(run: RunState): void {
  useEffect(() => {
    const press = (event: KeyboardEvent): void => {
      const isTyping = event.target instanceof HTMLInputElement;
      if (isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
      const command = runCommands(run).find(({ keys }) => keys === event.key);
      if (command === undefined) return;
      event.preventDefault();
      command.run();
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  }, [run]);
}
