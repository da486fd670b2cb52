// Keeps what fails in one view from taking the page with it: says what failed, and offers to try again.

import { Component, type ComponentChildren, type VNode } from "preact";
import { Button } from "../parts/button.tsx";
import { CopyButton } from "../parts/feedback/copy.tsx";
import { toSafeText } from "../parts/safe-text.ts";
import styles from "./view-boundary.module.css";

declare const __RLM_VERSION__: string;

interface ViewBoundaryProps {
  /** As in "tasks". */
  readonly name: string;
  /** Called before it is rendered again. */
  readonly onRetry: () => void;
  readonly children: ComponentChildren;
}

interface ViewBoundaryState {
  readonly error?: unknown;
}

export class ViewBoundary extends Component<ViewBoundaryProps, ViewBoundaryState> {
  override state: ViewBoundaryState = {};

  static override getDerivedStateFromError(error: unknown): ViewBoundaryState {
    return { error };
  }

  override render({ name, onRetry, children }: ViewBoundaryProps, { error }: ViewBoundaryState): ComponentChildren {
    if (error === undefined) return children;
    const retry = (): void => {
      onRetry();
      this.setState({ error: undefined });
    };
    return <Failure name={name} error={error} onRetry={retry} />;
  }
}

interface FailureProps {
  readonly name: string;
  readonly error: unknown;
  readonly onRetry: () => void;
}

function Failure({ name, error, onRetry }: FailureProps): VNode {
  const message = error instanceof Error ? error.message : String(error);
  return (
    <section role="alert" class={styles["failure"]}>
      <h1>The view of {name} failed</h1>
      <p>Nothing on the server was changed by this. The other views still work.</p>
      <pre>{toSafeText(message, { hasLines: true, maxCharacters: 2_000 })}</pre>
      <div class={styles["actions"]}>
        <Button kind="main" onClick={() => location.reload()}>
          Reload the page
        </Button>
        <Button onClick={onRetry}>Try again</Button>
        <CopyButton kind="plain" label="Copy the details" text={() => toDetails(name, error)}>
          Copy the details
        </CopyButton>
      </div>
    </section>
  );
}

/** For a report. The address is in it: the token was taken out of it. */
function toDetails(name: string, error: unknown): string {
  const stack = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return [`RLM Runtime ${__RLM_VERSION__}, view of ${name}`, location.hash, navigator.userAgent, "", stack].join("\n");
}
