// An exception: its name and message, and the frames on demand, the last one first to be seen.

import type { VNode } from "preact";
import { stringIn, toRunText } from "../../state/runs/run-text.ts";
import { TextBody } from "./text-body.tsx";
import styles from "./transcript.module.css";

export function Traceback({ error }: { readonly error: Readonly<Record<string, unknown>> }): VNode {
  const traceback = toRunText(error["traceback"]);
  return (
    <>
      <TextBody text={toRunText(messageOf(error))} as="output" />
      <details class={styles["traceback"]}>
        <summary>Traceback</summary>
        <TextBody text={traceback} as="output" />
      </details>
    </>
  );
}

function messageOf(error: Readonly<Record<string, unknown>>): unknown {
  const { value } = error;
  return typeof value === "string" ? `${stringIn(error, "name")}: ${value}` : value;
}
