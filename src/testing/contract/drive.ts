// What cases do with a session and with work that was started.

import type { Execution } from "../../api/execution.ts";
import type { OkResult } from "../../api/result-view.ts";
import type { Session } from "../../api/session.ts";
import type { SessionEvent } from "../../protocol/events.ts";
import { check } from "./asserts.ts";

/** Prints, then runs until it is interrupted. */
export const ENDLESS = "import time\nprint('begun', flush=True)\nwhile True: time.sleep(0.01)";

/** Runs code that must succeed. */
export async function run(session: Session, code: string): Promise<OkResult> {
  return (await session.execute(code)).unwrap();
}

/** The text of the value of code that must succeed. */
export async function valueOf(session: Session, code: string): Promise<string | undefined> {
  return (await run(session, code)).text;
}

export async function collect<Item>(items: AsyncIterable<Item>): Promise<readonly Item[]> {
  const collected: Item[] = [];
  for await (const item of items) collected.push(item);
  return collected;
}

/** The first item that fits. Leaves the loop then. */
export async function first<Item, Found extends Item>(
  items: AsyncIterable<Item>,
  fits: (item: Item) => item is Found,
): Promise<Found>;
export async function first<Item>(items: AsyncIterable<Item>, fits: (item: Item) => boolean): Promise<Item>;
export async function first<Item>(items: AsyncIterable<Item>, fits: (item: Item) => boolean): Promise<Item> {
  for await (const item of items) if (fits(item)) return item;
  throw new Error("Expected an item that fits, but there was none");
}

/** Returns when something was printed. */
export async function firstOutput(work: AsyncIterable<{ readonly type: string }>): Promise<void> {
  await first(work, ({ type }) => type === "output-delta");
}

/** Starts code that runs until it is interrupted; returns when it runs. Not awaited by its caller, who would wait for its end. */
export async function begin(session: Session): Promise<{ readonly execution: Execution }> {
  const execution = session.execute(ENDLESS, { timeoutMs: null });
  await firstOutput(execution);
  return { execution };
}

/** The text that events print, with the stream where it changes. */
export function printedBy(events: Iterable<{ readonly type: string }>): readonly (readonly [string, string])[] {
  const printed: [string, string][] = [];
  for (const event of events) {
    if (!isOutput(event)) continue;
    const last = printed.at(-1);
    if (last?.[0] === event.stream) last[1] += event.text;
    else printed.push([event.stream, event.text]);
  }
  return printed;
}

function isOutput(event: { readonly type: string }): event is { type: string; stream: string; text: string } {
  return event.type === "output-delta";
}

export function toText(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}

export function toBytes(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

/** One turn of the event loop, after which unhandled rejections have been reported. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 0));
}

type Uncaught = "unhandledRejection" | "uncaughtException";
type OnUncaught = (reason: unknown) => void;

interface Emitter {
  on(event: Uncaught, listener: OnUncaught): void;
  off(event: Uncaught, listener: OnUncaught): void;
  listeners(event: Uncaught): readonly OnUncaught[];
}

const { process } = globalThis as unknown as { readonly process?: Emitter };

/** The errors that nobody caught during the work, which end nothing meanwhile. Undefined: this platform does not tell. */
export async function uncaughtDuring(work: () => Promise<void>): Promise<readonly unknown[] | undefined> {
  if (process === undefined) return undefined;
  const others = [...process.listeners("uncaughtException")];
  const raised: unknown[] = [];
  const listener = (error: unknown): void => void raised.push(error);
  process.on("uncaughtException", listener);
  for (const other of others) process.off("uncaughtException", other);
  try {
    await work();
    await nextTurn();
  } finally {
    for (const other of others) process.on("uncaughtException", other);
    process.off("uncaughtException", listener);
  }
  return raised;
}

/** Fails where work raises a rejection that nobody handles. */
export async function raisesNothing(work: () => Promise<void>): Promise<void> {
  const raised: unknown[] = [];
  const listener = (reason: unknown): void => void raised.push(reason);
  process?.on("unhandledRejection", listener);
  try {
    await work();
    await nextTurn();
    await nextTurn();
  } finally {
    process?.off("unhandledRejection", listener);
  }
  check(raised.length === 0, `Expected no unhandled rejection, got ${raised.map(String).join(", ")}`);
}

/** Records the events of a session, and waits for them. */
export async function record(session: Session) {
  const events: SessionEvent[] = [];
  let wake: () => void = () => {};
  const subscription = session.subscribe((event) => {
    events.push(event);
    wake();
  });
  await subscription.ready;
  const until = async (fits: (event: SessionEvent) => boolean): Promise<void> => {
    while (!events.some(fits)) await new Promise<void>((resolve) => (wake = resolve));
  };
  return { events, subscription, until };
}
