// What a model was sent: what was added since the last call, and the messages before it on demand.

import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { formatBytes, formatCount } from "../../parts/format.ts";
import { toSafeText } from "../../parts/safe-text.ts";
import type { OutlineSpan, RecordedEvent } from "../../state/runs/run-source.ts";
import type { RunText } from "../../state/runs/run-text.ts";
import { toPrompt, type Message, type Prompt } from "../../state/runs/run-texts.ts";
import { useLoaded } from "../../state/runs/use-loaded.ts";
import { useRun } from "../run-context.ts";
import { MoreButton } from "./more-button.tsx";
import { Part } from "./part.tsx";
import { TextBody } from "./text-body.tsx";
import styles from "./transcript.module.css";

interface PromptPartProps {
  readonly span: OutlineSpan;
  readonly start: RecordedEvent | undefined;
}

export function PromptPart({ span, start }: PromptPartProps): VNode {
  const prompt = toPrompt(start);
  const tokens = span.inputTokens > 0 ? `${formatCount(span.inputTokens)} tokens in` : "";
  return (
    <Part title="Prompt" facts={tokens} tone="model">
      <Conversation key={span.seq} prompt={prompt} span={span} />
    </Part>
  );
}

function Conversation({ prompt, span }: { readonly prompt: Prompt; readonly span: OutlineSpan }): VNode {
  const [isAll, setIsAll] = useState(false);
  const { earlier, added } = prompt;
  return (
    <>
      {earlier !== null && earlier.count > 0 && !isAll && (
        <MoreButton onClick={() => setIsAll(true)}>
          {earlier.count === 1 ? "Show the earlier message" : `Show the ${earlier.count} earlier messages`}
        </MoreButton>
      )}
      {earlier !== null && isAll && <Earlier span={span} callId={earlier.callId} count={earlier.count} />}
      {added.map((message, index) => (
        <OneMessage key={index} message={message} />
      ))}
    </>
  );
}

/**
 * The first `count` messages of an earlier call of the node, which may itself begin with those of another. Only calls before `span` count: in
 * a damaged record a call may name itself.
 */
function Earlier(of: { readonly span: OutlineSpan; readonly callId: string; readonly count: number }): VNode {
  const run = useRun();
  const { span, callId, count } = of;
  const spans = run.outline.value?.spans ?? [];
  const named = spans.find((one) => one.callId === callId && one.nodeId === span.nodeId && one.seq < span.seq);
  const seq = named?.seq;
  const loaded = useLoaded(async () => (seq === undefined ? undefined : toPrompt(await run.texts.event(seq))), [seq]);
  if (loaded.state === "loading") return <p class={styles["cut"]}>Loading</p>;
  if (loaded.state === "failed" || loaded.value === undefined || named === undefined) {
    return <p class={styles["cut"]}>The earlier messages are not recorded</p>;
  }
  const { earlier, added } = loaded.value;
  const before = earlier?.count ?? 0;
  return (
    <>
      {earlier !== null && before > 0 && (
        <Earlier span={named} callId={earlier.callId} count={Math.min(before, count)} />
      )}
      {added.slice(0, Math.max(0, count - before)).map((message, index) => (
        <OneMessage key={index} message={message} />
      ))}
    </>
  );
}

function sizeOf(text: RunText): string {
  return text.kind === "whole" ? `${formatCount(text.text.length)} characters` : formatBytes(text.bytes);
}

function OneMessage({ message: { role, text } }: { readonly message: Message }): VNode {
  const [isChosen, setIsChosen] = useState(false);
  const sought = useRun().search.text.value;
  const isOpen =
    isChosen || (sought !== "" && text.kind === "whole" && text.text.toLowerCase().includes(sought.toLowerCase()));
  if (role === "system") {
    // The same in every call of a node, and long.
    return (
      <details
        class={`${styles["message"]} ${styles["system"]}`}
        open={isOpen}
        onToggle={({ currentTarget }) => setIsChosen(currentTarget.open)}
      >
        <summary>{`system, ${sizeOf(text)}`}</summary>
        {isOpen && <TextBody text={text} />}
      </details>
    );
  }
  return (
    <div class={styles["message"]}>
      <span class={styles["role"]}>{toSafeText(role, { maxCharacters: 40 })}</span>
      <TextBody text={text} />
    </div>
  );
}
