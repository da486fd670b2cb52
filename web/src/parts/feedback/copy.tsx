// Copying: a button, and a command with one.

import type { ComponentChildren, VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Button, type ButtonProps } from "../button.tsx";
import { Icon } from "../icon.tsx";
import styles from "./copy.module.css";

interface CopyButtonProps {
  /** A function where making the text takes work, or where it must be loaded. */
  readonly text: string | (() => string | Promise<string>);
  /** As in "Copy the code". */
  readonly label: string;
  /** Shown beside the drawing. Default: the drawing alone. */
  readonly children?: ComponentChildren;
  readonly kind?: ButtonProps["kind"];
}

const SHOWN_MS = 1_500;

export function CopyButton({ text, label, children, kind = "quiet" }: CopyButtonProps): VNode {
  const [outcome, setOutcome] = useState<"copied" | "failed">();
  useEffect(() => {
    if (outcome === undefined) return;
    const timer = setTimeout(() => setOutcome(undefined), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [outcome]);
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(typeof text === "string" ? text : await text());
      setOutcome("copied");
    } catch {
      setOutcome("failed");
    }
  };
  return (
    <Button kind={kind} aria-label={label} title={label} onClick={() => void copy()}>
      <Icon name={outcome === "copied" ? "check" : outcome === "failed" ? "error" : "copy"} />
      {children}
      <span role="status" class="unseen">
        {outcome === "copied" ? "Copied" : outcome === "failed" ? "The browser does not allow copying here" : ""}
      </span>
    </Button>
  );
}

interface CommandLineProps {
  readonly command: string;
  /** It is code, and no command. */
  readonly isCode?: boolean;
}

/** A command to type into a terminal, or a line of code: on one line, which scrolls where it is longer. */
export function CommandLine({ command, isCode = false }: CommandLineProps): VNode {
  return (
    <div class={styles["command"]}>
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- it scrolls, also with the keys */}
      <code tabIndex={0} class={isCode ? "" : styles["shell"]}>
        {command}
      </code>
      <CopyButton text={command} label={`Copy: ${command}`} />
    </div>
  );
}
