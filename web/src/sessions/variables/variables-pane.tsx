// The names of the session, and below them the one that was chosen.

import type { VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { Session, Variable } from "rlm-runtime/client";
import { Skeleton } from "../../parts/feedback/skeleton.tsx";
import { formatCount } from "../../parts/format.ts";
import { Split } from "../../parts/layout/split.tsx";
import { toSafeText } from "../../parts/safe-text.ts";
import { VirtualList } from "../../parts/virtual-list.tsx";
import type { Variables } from "../../state/sessions/variables.ts";
import { describeSize } from "./describe-size.ts";
import { Inspector } from "./inspector.tsx";
import styles from "./variables-pane.module.css";

interface VariablesPaneProps {
  readonly variables: Variables;
  readonly session: Session;
}

export function VariablesPane({ variables, session }: VariablesPaneProps): VNode {
  useEffect(() => {
    const watch = variables.watch();
    return () => watch[Symbol.dispose]();
  }, [variables]);
  const selected = variables.selected.value;
  const list = <Names variables={variables} />;
  if (selected === undefined) return list;
  return (
    <Split
      name="variables"
      label="Height of the list of variables"
      direction="rows"
      initial={260}
      min={96}
      minRest={160}
      first={list}
      second={<Inspector key={selected} name={selected} variables={variables} session={session} />}
    />
  );
}

function Names({ variables }: { readonly variables: Variables }): VNode {
  const [filter, setFilter] = useState("");
  const list = variables.list.value;
  const failure = variables.failure.value;
  if (list === undefined) {
    return failure === undefined ? (
      <Skeleton lines={5} label="Loading the variables" />
    ) : (
      <p class={styles["note"]}>{failure}</p>
    );
  }
  if (list.variables.length === 0) {
    return <p class={styles["note"]}>No variables yet. What code assigns is listed here.</p>;
  }
  const wanted = filter.trim().toLowerCase();
  const shown = list.variables.filter(({ name, type }) => `${name} ${type}`.toLowerCase().includes(wanted));
  const active = shown.findIndex(({ name }) => name === variables.selected.value);
  return (
    <div class={styles["pane"]}>
      {list.variables.length > 8 && (
        <input
          type="search"
          class={styles["filter"]}
          aria-label="Filter variables by name or type"
          placeholder="Filter by name or type"
          value={filter}
          onInput={({ currentTarget }) => setFilter(currentTarget.value)}
        />
      )}
      <div class={styles["list"]}>
        {shown.length === 0 ? (
          <p class={styles["note"]}>No name or type has “{toSafeText(filter)}”.</p>
        ) : (
          <VirtualList
            items={shown}
            keyOf={({ name }) => name}
            estimate={52}
            label="Variables"
            active={active === -1 ? undefined : active}
            render={(variable) => <Row variable={variable} variables={variables} />}
          />
        )}
      </div>
      {list.total > list.variables.length && (
        <p class={styles["note"]}>
          The first {formatCount(list.variables.length)} of {formatCount(list.total)} names.
        </p>
      )}
    </div>
  );
}

function Row({ variable, variables }: { readonly variable: Variable; readonly variables: Variables }): VNode {
  const { name, type, preview, kind } = variable;
  const isSelected = variables.selected.value === name;
  const size = describeSize(variable);
  return (
    <button
      type="button"
      class={styles["row"]}
      aria-pressed={isSelected}
      onClick={() => variables.select(isSelected ? undefined : name)}
    >
      <span class={styles["name"]}>{toSafeText(name)}</span>
      <span class={styles["type"]}>{toSafeText(kind === "variable" ? type : kind)}</span>
      <span class={styles["preview"]}>{preview === undefined ? "" : toSafeText(preview, { maxCharacters: 200 })}</span>
      <span class={`figures ${styles["size"]}`}>{size}</span>
    </button>
  );
}
