// A run of a server, live or recorded.

import type { Run, RunEvent, Runtime } from "rlm-runtime/client";
import { OutlineBuilder } from "rlm-runtime/run-outline";
import type {
  EventRange,
  FollowListener,
  RecordedEvent,
  RunOutline,
  RunSearchAnswer,
  RunSource,
} from "./run-source.ts";

/** How often a live run is drawn anew. */
const PAUSE_MS = 200;

export class ServerRun implements RunSource {
  readonly runId: string;
  readonly #run: Run;

  constructor(runtime: Runtime, runId: string) {
    this.runId = runId;
    this.#run = runtime.runs.get(runId);
    // Awaited by nobody: whether there is one is known from its outline.
    this.#run.catch(() => {});
  }

  async outline(): Promise<RunOutline> {
    return this.#run.outline();
  }

  async events(range: EventRange): Promise<readonly RecordedEvent[]> {
    const { events } = await this.#run.eventPage(range);
    return events;
  }

  async blob(hash: string): Promise<string> {
    return new TextDecoder().decode(await this.#run.blob(hash));
  }

  async search(text: string, after: number): Promise<RunSearchAnswer> {
    return this.#run.search(text, { after });
  }

  async cancel(): Promise<void> {
    await this.#run.cancel();
  }

  async *follow(outline: RunOutline, { signal, onReply }: FollowListener): AsyncGenerator<RunOutline> {
    const builder = new OutlineBuilder(outline);
    const events = this.#run.follow({ after: outline.seq, signal })[Symbol.asyncIterator]();
    const arrived: RunEvent[] = [];
    let isOver = false;
    let wake = (): void => {};
    const read = async (): Promise<void> => {
      for (let next = await events.next(); next.done !== true; next = await events.next()) {
        arrived.push(next.value);
        wake();
      }
    };
    const reading = read().finally(() => {
      isOver = true;
      wake();
    });
    // Awaited below, after what came before it failed.
    reading.catch(() => {});
    while (!signal.aborted) {
      const hasNews = addAll(builder, arrived.splice(0), onReply);
      if (hasNews) yield builder.outline;
      if (isOver && arrived.length === 0) break;
      if (arrived.length === 0) await new Promise<void>((resolve) => void (wake = resolve));
      await new Promise((resolve) => void setTimeout(resolve, PAUSE_MS));
    }
    if (!signal.aborted) await reading;
  }
}

/** Whether the outline has changed. */
function addAll(builder: OutlineBuilder, events: readonly RunEvent[], onReply: FollowListener["onReply"]): boolean {
  let hasNews = false;
  for (const event of events) {
    if (event.type === "model-call-delta") onReply?.(event.nodeId, event.callId, event.text);
    else if (builder.add(event) !== undefined) hasNews = true;
  }
  return hasNews;
}
