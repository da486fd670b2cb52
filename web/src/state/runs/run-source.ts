// Where the page gets a run from: a server, or the data inside of an exported file. What shows a run knows no more than this.

import type { OutlineMark, OutlineNode, OutlineSpan, RunMatch, RunOutline, RunSearchAnswer } from "rlm-runtime/client";

export type { OutlineMark, OutlineNode, OutlineSpan, RunMatch, RunOutline, RunSearchAnswer };

/** An event as it is recorded. Its texts may be references to blobs; see `run-text.ts`. */
export interface RecordedEvent {
  readonly type: string;
  readonly seq: number;
  readonly [field: string]: unknown;
}

export interface EventRange {
  /** Events with a number above it. */
  readonly after: number;
  readonly limit: number;
  readonly nodeId?: string | undefined;
  readonly step?: number | undefined;
}

export interface FollowListener {
  readonly signal: AbortSignal;
  /** What a model says before its reply is complete. */
  onReply?(nodeId: string, callId: string, text: string): void;
}

export interface RunSource {
  readonly runId: string;
  outline(): Promise<RunOutline>;
  /** In order; fewer than `limit` if there are no more. */
  events(range: EventRange): Promise<readonly RecordedEvent[]>;
  blob(hash: string): Promise<string>;
  search(text: string, after: number): Promise<RunSearchAnswer>;
  /** Outlines as they change, until the run has ended or broken, or the signal aborts. Absent: it does not go on. */
  readonly follow?: ((outline: RunOutline, listener: FollowListener) => AsyncIterable<RunOutline>) | undefined;
  /** Absent: it cannot be cancelled from here. */
  readonly cancel?: (() => Promise<void>) | undefined;
}
