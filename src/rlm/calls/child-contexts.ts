// The contexts of the children of one call: small ones are part of its message, large ones are fetched from the session of the parent.
//
// A large one is fetched when the first child that gets it starts, and kept in a temporary file while a child has it: one whose
// variables were lost loads it again. A few are kept longer for children that are still to start. Others are fetched again then, since
// each file takes a descriptor of this process, and there may be thousands.

import type { WorkerCall } from "../../session/options.ts";
import type { OfferedContext, Task } from "../../protocol/worker/call-arguments.ts";
import type { ContextItem } from "../context/context-item.ts";

type Spooled = Awaited<ReturnType<WorkerCall["fetch"]>>;

interface Shared {
  /** Children that have it, or are still to start. */
  users: number;
  /** Children that have it. */
  running: number;
  spooled: Promise<Spooled> | undefined;
}

interface OpenContext extends AsyncDisposable {
  readonly items: readonly ContextItem[];
}

const MAX_IDLE = 8;

export class ChildContexts implements AsyncDisposable {
  readonly #call: Pick<WorkerCall, "fetch">;
  readonly #shared = new Map<number, Shared>();
  /** Kept although no child has them, the oldest first. */
  readonly #idle = new Set<Shared>();

  constructor(call: Pick<WorkerCall, "fetch">, tasks: readonly Pick<Task, "offered">[]) {
    this.#call = call;
    for (const { offered } of tasks) if (offered) this.#sharedOf(offered).users += 1;
  }

  /** Once for each task, until it is disposed. Rejects where its context cannot be fetched, and with the reason of the signal. */
  async open({ context, offered }: Pick<Task, "context" | "offered">, signal: AbortSignal): Promise<OpenContext> {
    if (!offered) return { items: toItems(context), [Symbol.asyncDispose]: async () => {} };
    const shared = this.#sharedOf(offered);
    this.#idle.delete(shared);
    shared.running += 1;
    shared.spooled ??= this.#call.fetch(offered.source, signal);
    const release = (): Promise<void> => this.#release(shared);
    try {
      return { items: [toSpooledItem(offered, await shared.spooled)], [Symbol.asyncDispose]: release };
    } catch (error) {
      await release();
      throw error;
    }
  }

  /** When all children have ended. */
  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#shared.values()].map(close));
  }

  async #release(shared: Shared): Promise<void> {
    shared.users -= 1;
    shared.running -= 1;
    if (shared.running > 0) return;
    if (shared.users > 0) this.#idle.add(shared);
    const [oldest] = this.#idle;
    if (shared.users === 0) await close(shared);
    else if (oldest !== undefined && this.#idle.size > MAX_IDLE) {
      this.#idle.delete(oldest);
      await close(oldest);
    }
  }

  #sharedOf({ source }: OfferedContext): Shared {
    const shared = this.#shared.get(source) ?? { users: 0, running: 0, spooled: undefined };
    this.#shared.set(source, shared);
    return shared;
  }
}

async function close(shared: Shared): Promise<void> {
  const { spooled } = shared;
  shared.spooled = undefined;
  (await spooled?.catch(() => undefined))?.[Symbol.dispose]();
}

function toItems(context: unknown): readonly ContextItem[] {
  if (context === null || context === undefined) return [];
  const text = Buffer.from(toText(context)).toString();
  const bytes = Buffer.byteLength(text);
  if (typeof context === "string") return [{ name: "context", kind: "text", bytes, value: { text } }];
  return [{ name: "context", kind: "json", bytes, value: { text, as: "json" } }];
}

export function toText(context: unknown): string {
  return typeof context === "string" ? context : JSON.stringify(context);
}

function toSpooledItem({ kind, files }: OfferedContext, { path, sizeBytes: bytes }: Spooled): ContextItem {
  const item = { name: "context", kind, bytes } as const;
  if (kind === "json") return { ...item, value: { file: path, as: "json" } };
  if (kind !== "files") return { ...item, value: { file: path } };
  const { names, sizes } = files ?? { names: [], sizes: [] };
  let offset = 0;
  const value = names.map((name, at) => {
    const length = sizes[at] ?? 0;
    const range = { offset, length };
    offset += length;
    return { name, path, size: length, range };
  });
  if (offset !== bytes) throw new Error("the files of the context have a different size than announced");
  return { ...item, value };
}
