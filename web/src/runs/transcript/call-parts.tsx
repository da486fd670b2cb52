// What a model call, a block of code and a call of a tool said.

import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { formatCount, formatDuration } from "../../parts/format.ts";
import { toSafeText } from "../../parts/safe-text.ts";
import type { OutlineSpan, RecordedEvent } from "../../state/runs/run-source.ts";
import { isEmptyText, isRecord, numberIn, stringIn, toRunText, type RunText } from "../../state/runs/run-text.ts";
import { printedParts } from "../model/print-order.ts";
import { withoutCode } from "../model/row-text.ts";
import { useRun } from "../run-context.ts";
import { MoreButton } from "./more-button.tsx";
import { Part } from "./part.tsx";
import { PromptPart } from "./prompt-part.tsx";
import { TextBody } from "./text-body.tsx";
import { Traceback } from "./traceback.tsx";
import styles from "./transcript.module.css";

interface SpanPartsProps {
  readonly span: OutlineSpan;
  readonly start: RecordedEvent | undefined;
  readonly end: RecordedEvent | undefined;
  /** It ended because its run was cancelled. */
  readonly isCancelled: boolean;
  /** Of a model: its code has a part of its own. */
  readonly isWithoutCode: boolean;
}

export function ModelParts({ span, start, end, isCancelled, isWithoutCode }: SpanPartsProps): VNode {
  const reasoning = toRunText(end?.["reasoning"]);
  const error = toRunText(end?.["error"]);
  const reasoningTokens = numberIn(end?.["usage"], "reasoningTokens") ?? 0;
  const facts = [
    span.outputTokens > 0 ? `${formatCount(span.outputTokens)} tokens out` : "",
    stringIn(end, "finishReason") === "length" ? "cut at the token limit" : "",
  ];
  return (
    <>
      <PromptPart span={span} start={start} />
      <Waits span={span} />
      {!isEmptyText(reasoning) && (
        <Part
          title="Reasoning"
          facts={reasoningTokens > 0 ? `${formatCount(reasoningTokens)} tokens` : ""}
          tone="model"
          isFoldedAtFirst
        >
          <TextBody text={reasoning} />
        </Part>
      )}
      {end === undefined && <ReplySoFar span={span} />}
      {end !== undefined && (
        <Part title="Reply" facts={facts.filter(Boolean).join(" · ")} tone="model">
          <Reply text={toRunText(end["text"])} isWithoutCode={isWithoutCode} />
        </Part>
      )}
      {!isEmptyText(error) && (
        <Part title="Error" tone={isCancelled ? undefined : "error"}>
          <TextBody text={error} as="output" />
        </Part>
      )}
    </>
  );
}

function ReplySoFar({ span }: { readonly span: OutlineSpan }): VNode | null {
  const text = useRun().replies.of(span);
  if (text === "") return null;
  return (
    <Part title="Reply" facts="so far" tone="model">
      <TextBody text={toRunText(text)} />
    </Part>
  );
}

/** While something is sought, all of it is shown: it may be in the code. */
function Reply({ text, isWithoutCode }: { readonly text: RunText; readonly isWithoutCode: boolean }): VNode {
  const { search } = useRun();
  const [isWhole, setIsWhole] = useState(false);
  const prose = text.kind === "whole" ? withoutCode(text.text) : undefined;
  const isCut = isWithoutCode && !isWhole && search.text.value === "" && prose !== undefined;
  if (!isCut || (text.kind === "whole" && prose === text.text.trim())) return <TextBody text={text} />;
  return (
    <>
      {prose !== "" && <TextBody text={toRunText(prose)} />}
      <MoreButton onClick={() => setIsWhole(true)}>
        {prose === "" ? "It is code alone. Show the reply as it was" : "Show the reply with its code"}
      </MoreButton>
    </>
  );
}

function Waits({ span: { waits } }: { readonly span: OutlineSpan }): VNode | null {
  if (waits.length === 0) return null;
  const total = waits.reduce((sum, { delayMs }) => sum + delayMs, 0);
  return (
    <Part title="Waits" facts={`${waits.length} · ${formatDuration(total)}`} tone="wait">
      <ul class={styles["waits"]}>
        {waits.map(({ at, delayMs, fault }) => (
          <li key={at}>{`${toSafeText(fault)}: ${formatDuration(delayMs)} until the next attempt`}</li>
        ))}
      </ul>
    </Part>
  );
}

export function CodeParts({ span, start, end, isCancelled }: SpanPartsProps): VNode {
  const result = end?.["result"];
  const took = span.endedAt === null ? "" : formatDuration(span.endedAt - span.startedAt);
  return (
    <>
      {start !== undefined && (
        <Part title="Code" facts={took} tone="code">
          <TextBody text={toRunText(start["code"])} as="python" />
        </Part>
      )}
      {isRecord(result) && <Output result={result} order={end?.["order"]} isCancelled={isCancelled} />}
    </>
  );
}

/** What code raises that has given the answer. */
const FINAL = "Final";

interface OutputProps {
  readonly result: Readonly<Record<string, unknown>>;
  readonly order: unknown;
  readonly isCancelled: boolean;
}

function Output({ result, order, isCancelled }: OutputProps): VNode {
  const [stdout, stderr] = [toRunText(result["stdout"]), toRunText(result["stderr"])];
  const printed = printedParts(stdout, stderr, order);
  const value = valueOf(result["value"]);
  const status = stringIn(result, "status");
  // `FINAL` ends the code by an exception.
  const isFinal = stringIn(result["error"], "name") === FINAL;
  const error = isRecord(result["error"]) && !isFinal ? result["error"] : undefined;
  return (
    <>
      {printed.length > 0 && (
        <Part title="Output" facts={omittedOf(result["truncated"])} tone="code">
          {printed.map(({ stream, text }, index) => (
            <TextBody key={index} text={text} as="output" isStderr={stream === "stderr"} />
          ))}
        </Part>
      )}
      {value !== undefined && (
        <Part title="Value" tone="code">
          <TextBody text={value} as="output" />
        </Part>
      )}
      {error !== undefined && (
        <Part title="Error" facts={stringIn(error, "name")} tone={isCancelled ? undefined : "error"}>
          <Traceback error={error} />
        </Part>
      )}
      {isFinal && <p class={styles["note"]}>The code gave the answer and ended with it.</p>}
      {status === "interrupted" && (
        <p class={styles["note"]}>{`The code was interrupted: ${stringIn(result, "reason")}`}</p>
      )}
      {status === "exit" && <p class={styles["note"]}>{`The code called exit(${String(result["exitCode"])})`}</p>}
      {stringIn(result, "state") === "lost" && <p class={styles["note"]}>The variables of the session were lost</p>}
    </>
  );
}

/** The text of a value; that of another kind if there is no text. */
function valueOf(value: unknown): RunText | undefined {
  if (!isRecord(value)) return undefined;
  return toRunText(value["text/plain"] ?? Object.values(value)[0]);
}

function omittedOf(truncated: unknown): string {
  if (!isRecord(truncated)) return "";
  const bytes = ["stdout", "stderr"].reduce((sum, stream) => sum + (numberIn(truncated[stream], "omitted") ?? 0), 0);
  return bytes > 0 ? `${formatCount(bytes)} bytes were cut when it was recorded` : "";
}

export function ToolParts({ span, start, end, isCancelled }: SpanPartsProps): VNode {
  const took = span.endedAt === null ? "" : formatDuration(span.endedAt - span.startedAt);
  return (
    <>
      <Part title="Arguments" tone="code">
        <TextBody text={toRunText(start?.["args"])} as="output" />
      </Part>
      {end !== undefined && (
        <Part
          title={span.ok === false ? "Error" : "Result"}
          facts={took}
          tone={span.ok === false && !isCancelled ? "error" : "code"}
        >
          <TextBody text={toRunText(end["result"])} as="output" />
        </Part>
      )}
    </>
  );
}
