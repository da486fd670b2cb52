// One variable: what it is, its value as text, and as a table where it has rows.

import type { VNode } from "preact";
import { useState } from "preact/hooks";
import type { InspectedVariable, Session } from "rlm-runtime/client";
import { Button } from "../../parts/button.tsx";
import { CopyButton } from "../../parts/feedback/copy.tsx";
import { Skeleton } from "../../parts/feedback/skeleton.tsx";
import { formatBytes, formatCount } from "../../parts/format.ts";
import { Icon } from "../../parts/icon.tsx";
import { toSafeText } from "../../parts/safe-text.ts";
import { canHaveRows } from "../../state/sessions/table-rows.ts";
import type { Variables } from "../../state/sessions/variables.ts";
import { describeSize } from "./describe-size.ts";
import styles from "./inspector.module.css";
import { RowsTable } from "./rows-table.tsx";

interface InspectorProps {
  readonly name: string;
  readonly variables: Variables;
  readonly session: Session;
}

export function Inspector({ name, variables, session }: InspectorProps): VNode {
  const inspection = variables.inspection.value;
  return (
    <section class={styles["inspector"]} aria-label={`Variable ${toSafeText(name)}`}>
      <header class={styles["header"]}>
        <h2 class={styles["name"]}>{toSafeText(name)}</h2>
        {inspection.state === "found" && (
          <span class={`figures ${styles["facts"]}`} title={fullType(inspection.variable)}>
            {describe(inspection.variable)}
          </span>
        )}
        <Button kind="quiet" aria-label="Close the variable" title="Close" onClick={() => variables.select(undefined)}>
          <Icon name="close" />
        </Button>
      </header>
      {inspection.state === "asking" && <Skeleton lines={4} label="Inspecting" />}
      {inspection.state === "gone" && <p class={styles["note"]}>There is no such name any more.</p>}
      {inspection.state === "failed" && (
        <p class={styles["note"]} role="alert">
          {inspection.why}
        </p>
      )}
      {inspection.state === "found" && (
        <Found variable={inspection.variable} session={session} version={variables.version.value} />
      )}
    </section>
  );
}

interface FoundProps {
  readonly variable: InspectedVariable;
  readonly session: Session;
  readonly version: number;
}

function Found({ variable, session, version }: FoundProps): VNode {
  const hasRows = canHaveRows(variable);
  const [isTable, setTable] = useState(true);
  return (
    <>
      {hasRows && (
        <div class={styles["choice"]} role="group" aria-label="Show as">
          <button type="button" aria-pressed={isTable} onClick={() => setTable(true)}>
            Table
          </button>
          <button type="button" aria-pressed={!isTable} onClick={() => setTable(false)}>
            Text
          </button>
        </div>
      )}
      {hasRows && isTable ? (
        <RowsTable name={variable.name} session={session} version={version} />
      ) : (
        <TextOf variable={variable} />
      )}
    </>
  );
}

function TextOf({ variable }: { readonly variable: InspectedVariable }): VNode {
  const { repr, preview, errors, incomplete } = variable;
  const text = repr?.text ?? preview ?? "";
  const missing = repr === undefined || repr.total === null ? 0 : repr.total - Array.from(repr.text).length;
  return (
    <div class={styles["text"]}>
      <div class={styles["copy"]}>
        <CopyButton text={text} label="Copy the text" />
      </div>
      <pre>{toSafeText(text, { hasLines: true, maxCharacters: 40_000 })}</pre>
      {missing > 0 && <p class={styles["note"]}>{formatCount(missing)} more characters.</p>}
      {Object.entries(errors).map(([what, why]) => (
        <p key={what} class={styles["failure"]}>
          {what}: {toSafeText(why)}
        </p>
      ))}
      {incomplete !== null && <p class={styles["note"]}>Not all is known: {INCOMPLETE[incomplete]}.</p>}
    </div>
  );
}

const INCOMPLETE = {
  timeout: "the time was up",
  crashed: "the process that looked at it crashed",
  "no-process": "no process could be started to look at it",
} as const;

/** With the module. */
function fullType({ type, module }: InspectedVariable): string {
  return toSafeText(module === null ? type : `${module}.${type}`);
}

function describe(variable: InspectedVariable): string {
  const { type, sizeBytes } = variable;
  const facts = [type, describeSize(variable), sizeBytes === undefined ? "" : formatBytes(sizeBytes)];
  return facts
    .filter((fact) => fact !== "")
    .map((fact) => toSafeText(fact))
    .join(" · ");
}
