// A text in a transcript. A long one shows its head and its tail; the middle and what is stored apart come on demand.

import type { ComponentChild, VNode } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { formatBytes, formatCount } from "../../parts/format.ts";
import { PythonCode } from "../../parts/python-code.tsx";
import { toSafeText } from "../../parts/safe-text.ts";
import type { RunText } from "../../state/runs/run-text.ts";
import { useLoaded } from "../../state/runs/use-loaded.ts";
import { messageOf } from "../message-of.ts";
import { cutText, markMatches, reachOf, type MarkedPart } from "./cut-text.ts";
import { splitFences } from "./split-fences.ts";
import { useRun } from "../run-context.ts";
import { MoreButton } from "./more-button.tsx";
import { titleOfMatch } from "./part.tsx";
import styles from "./transcript.module.css";

interface TextBodyProps {
  readonly text: RunText;
  readonly as?: "prose" | "output" | "python";
  /** Of output: printed on standard error. */
  readonly isStderr?: boolean;
}

/** What is stored apart is loaded at once if it is not larger. */
const MAX_AUTOMATIC_BYTES = 100_000;
const MAX_BYTES = 64_000_000;

export function TextBody({ text, ...rest }: TextBodyProps): VNode {
  if (text.kind === "whole") return <WholeText text={text.text} {...rest} />;
  return <BlobText key={text.hash} text={text} {...rest} />;
}

function BlobText({ text, ...rest }: TextBodyProps & { readonly text: RunText & { kind: "blob" } }): VNode {
  const isSmall = text.bytes <= MAX_AUTOMATIC_BYTES;
  const [isWanted, setIsWanted] = useState(isSmall);
  if (isWanted) return <LoadedBlob hash={text.hash} head={text.head} {...rest} />;
  return (
    <>
      <WholeText text={`${text.head}…`} {...rest} />
      {text.bytes > MAX_BYTES ? (
        <p class={styles["cut"]}>{`${formatBytes(text.bytes)} in all: too large to be shown here`}</p>
      ) : (
        <MoreButton onClick={() => setIsWanted(true)}>{`Load all ${formatBytes(text.bytes)}`}</MoreButton>
      )}
    </>
  );
}

type LoadedBlobProps = Omit<TextBodyProps, "text"> & { readonly hash: string; readonly head: string };

function LoadedBlob({ hash, head, ...rest }: LoadedBlobProps): VNode {
  const { texts } = useRun();
  const loaded = useLoaded(() => texts.blob(hash), [hash]);
  if (loaded.state === "loaded") return <WholeText text={loaded.value} {...rest} />;
  return (
    <>
      <WholeText text={`${head}…`} {...rest} />
      {loaded.state === "failed" && (
        <p role="alert" class={styles["cut"]}>
          {`The rest cannot be loaded: ${messageOf(loaded.error)}`}
        </p>
      )}
    </>
  );
}

const LIMITS = { head: 6_000, tail: 2_000 };
const MORE = 50_000;
/** More at once would make the page slow. */
const MAX_SHOWN = 400_000;

/** A text of more is not one that people wrote. */
const MAX_BLOCKS = 200;

type WholeTextProps = Omit<TextBodyProps, "text"> & { readonly text: string };

function WholeText({ text, as = "prose", isStderr = false }: WholeTextProps): VNode {
  const { search } = useRun();
  const sought = search.text.value;
  const [more, setMore] = useState(0);
  const { head, hidden, tail } = cutText(text, LIMITS, Math.max(more, reachOf(text, sought, LIMITS.head)));
  const isFull = head.length >= MAX_SHOWN;
  return (
    <div class={`${styles["text"]} ${styles[as]} ${isStderr ? styles["stderr"] : ""}`}>
      <Piece text={head} as={as} sought={sought} />
      {hidden > 0 && (
        <p class={styles["cut"]}>
          <span>{`${formatCount(hidden)} characters are not shown`}</span>
          {!isFull && (
            <MoreButton onClick={() => setMore(more + MORE)}>
              {hidden > MORE ? `Show ${formatCount(MORE)} more` : "Show them"}
            </MoreButton>
          )}
        </p>
      )}
      {tail !== "" && <Piece text={tail} as={as} sought={sought} />}
    </div>
  );
}

interface PieceProps {
  readonly text: string;
  readonly as: "prose" | "output" | "python";
  readonly sought: string;
}

function Piece({ text, as, sought }: PieceProps): VNode {
  // Marks that reorder or hide text are shown as escapes: nothing here looks like what it is not.
  const safe = useMemo(() => toSafeText(text, { hasLines: true, maxCharacters: Infinity }), [text]);
  const blocks = useMemo(() => {
    const fenced = as === "prose" ? splitFences(safe) : [];
    const isPlain = fenced.length === 0 || fenced.length > MAX_BLOCKS;
    return (isPlain ? [{ text: safe, isCode: false }] : fenced).map(({ text: block, isCode }) => ({
      isCode,
      parts: markMatches(block, sought),
    }));
  }, [safe, sought, as]);
  const firstMatch = blocks.flatMap(({ parts }) => parts).find(({ isMatch }) => isMatch);
  const hasMatch = firstMatch !== undefined;
  const first = useRef<HTMLElement>(null);
  const { search } = useRun();
  const chosen = search.chosen;
  useEffect(() => {
    if (first.current !== null && chosen !== undefined) showMark(first.current, titleOfMatch(chosen));
  }, [sought, text, hasMatch, chosen]);
  if (as === "python" && !hasMatch) return <PythonCode code={safe} />;
  const show = (part: MarkedPart, index: number): ComponentChild =>
    part.isMatch ? (
      <mark key={index} class={styles["match"]} ref={part === firstMatch ? first : null}>
        {part.text}
      </mark>
    ) : (
      part.text
    );
  return (
    <pre class={as === "prose" ? styles["proseText"] : styles["outputText"]}>
      {blocks.map(({ isCode, parts }, index) =>
        isCode ? <code key={index}>{parts.map(show)}</code> : parts.map(show),
      )}
    </pre>
  );
}

/** Only the first one of the part in which the chosen match is. The header has marks too, and is always seen. */
function showMark(mark: HTMLElement, title: string | undefined): void {
  const part = mark.closest<HTMLElement>("[data-part]");
  const isFirst = part?.querySelector(`.${styles["match"]}`) === mark;
  if (isFirst && part?.dataset["part"] === title) mark.scrollIntoView({ block: "center" });
}
