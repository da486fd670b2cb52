// Containers of an engine: created, started, ended and removed. Each has our labels, so that those of a killed host are found.

import { randomBytes } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import * as z from "zod";
import { onAbort } from "../../util/async/on-abort.ts";
import { orAborted } from "../../util/async/or-aborted.ts";
import type { Engine } from "./engine/engine.ts";
import { EngineError } from "./engine/errors.ts";
import { isStale, KIND } from "./labels.ts";

/** How long to wait for a create request after cancellation, so that its container can be removed. */
const GRACE_MS = 5_000;
const REMOVE_LIMIT_MS = 20_000;
const REMOVING_LIMIT_MS = 5_000;
const LAST_ATTEMPTS = 12;
const LAST_PAUSE_MS = 250;
/** Size of the logs of a container that runs something and ends: they are stored on the engine's disk. */
const LOG_BYTES = 1024 * 1024;
const MOST_BYTES = 1024 * 1024 * 1024;
const MOST_PROCESSES = 64;
const ID = /^[\da-f]{12,64}$/;

export interface ContainerSpec {
  readonly Image: string;
  readonly HostConfig: Readonly<Record<string, unknown>>;
  readonly Labels: Readonly<Record<string, string>>;
  readonly [key: string]: unknown;
}

/** What a container may do that builds or checks an image: its code is not trusted, either. */
export const SHORT_LIVED = {
  NetworkMode: "none",
  CapDrop: ["ALL"],
  SecurityOpt: ["no-new-privileges"],
  Memory: MOST_BYTES,
  MemorySwap: MOST_BYTES,
  PidsLimit: MOST_PROCESSES,
  LogConfig: { Type: "json-file", Config: { "max-size": String(LOG_BYTES), "max-file": "1" } },
};

/** Its id. Where the signal, the deadline or the connection ends the request, no container is left. */
export async function createContainer(engine: Engine, spec: ContainerSpec, signal?: AbortSignal): Promise<string> {
  signal?.throwIfAborted();
  const name = `rlm-${spec.Labels[KIND]}-${randomBytes(8).toString("hex")}`;
  // An engine that creates it does not notice that nobody waits. So the answer is awaited for a while, also when the signal is aborted.
  const grace = graceAfter(signal);
  try {
    const answer = await engine.call("POST", "/containers/create", {
      json: spec,
      query: { name },
      signal: grace.signal,
    });
    const { data } = z.object({ Id: z.string().regex(ID) }).safeParse(answer);
    if (data === undefined) throw new EngineError(500, "the engine returned no container ID");
    signal?.throwIfAborted();
    void retryRemovals(engine);
    return data.Id;
  } catch (error) {
    const isRefused = error instanceof EngineError && error.status >= 400 && error.status < 500;
    if (!isRefused) await removeContainer(engine, name, GRACE_MS).catch(() => {});
    throw error;
  } finally {
    grace.end();
  }
}

/** Aborted a while after another. */
function graceAfter(signal: AbortSignal | undefined): { readonly signal: AbortSignal; readonly end: () => void } {
  const late = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const unlisten = onAbort(signal, () => {
    timer = setTimeout(() => late.abort(signal?.reason), GRACE_MS).unref();
  });
  return {
    signal: late.signal,
    end: () => {
      unlisten();
      clearTimeout(timer);
    },
  };
}

export async function startContainer(engine: Engine, id: string, signal?: AbortSignal): Promise<void> {
  await engine.call("POST", `/containers/${id}/start`, { signal });
}

export interface WaitOptions {
  readonly limitMs: number;
  readonly signal?: AbortSignal | undefined;
}

/** Resolves with its exit code when it has ended. Undefined: it runs for too long. */
export async function waitForEnd(
  engine: Engine,
  id: string,
  { limitMs, signal }: WaitOptions,
): Promise<number | undefined> {
  const limit = new AbortController();
  const timer = setTimeout(() => limit.abort(), limitMs).unref();
  const unlisten = onAbort(signal, () => limit.abort());
  try {
    signal?.throwIfAborted();
    const options = { limitMs: Infinity, signal: limit.signal };
    const answer = await engine.call("POST", `/containers/${id}/wait`, options);
    return z.object({ StatusCode: z.int() }).safeParse(answer).data?.StatusCode ?? -1;
  } catch (error) {
    signal?.throwIfAborted();
    if (limit.signal.aborted) return undefined;
    throw error;
  } finally {
    clearTimeout(timer);
    unlisten();
  }
}

/** Ends and removes it. Resolves when it is gone, also where it was gone already. One that stays is removed by `retryRemovals`. */
export async function removeContainer(engine: Engine, id: string, limitMs = REMOVE_LIMIT_MS): Promise<void> {
  try {
    await removeNow(engine, id, limitMs);
    engine.pendingRemovals.delete(id);
  } catch (error) {
    engine.pendingRemovals.add(id);
    throw error;
  }
}

/** Removes those that could not be removed before. Resolves to whether the engine answered. Never rejects. */
function retryRemovals(engine: Engine): Promise<boolean> {
  return engine.pendingRemovals.retry((id) =>
    isRemoved(engine, id, GRACE_MS).catch((error: unknown) => {
      if (error instanceof EngineError) return false;
      throw error;
    }),
  );
}

/** The same before the engine is left. One that has just been started again may refuse for a while. */
export async function finishRemovals(engine: Engine): Promise<void> {
  for (let attempt = 0; attempt < LAST_ATTEMPTS; attempt += 1) {
    if (!(await retryRemovals(engine)) || engine.pendingRemovals.size === 0) return;
    await delay(LAST_PAUSE_MS);
  }
}

async function removeNow(engine: Engine, id: string, limitMs: number): Promise<void> {
  if (await isRemoved(engine, id, limitMs)) return;
  // It is being removed already. An engine may not say when that is done: then it is asked again.
  const query = { condition: "removed" };
  await engine.call("POST", `/containers/${id}/wait`, { query, limitMs: REMOVING_LIMIT_MS }).catch(() => {});
  if (await isRemoved(engine, id, limitMs)) return;
  throw new EngineError(409, `the engine did not remove container '${id}'`);
}

/** False: the engine says that it cannot do it now. */
async function isRemoved(engine: Engine, id: string, limitMs: number): Promise<boolean> {
  try {
    await engine.call("DELETE", `/containers/${id}`, { query: { force: true, v: true }, limitMs });
    return true;
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
    if (error.status === 409) return false;
    if (error.status !== 404) throw error;
    return true;
  }
}

const listed = z.object({
  Id: z.string().regex(ID),
  Labels: z.record(z.string(), z.string()),
  Created: z.number().optional(),
  State: z.string().optional(),
});

/** Removes containers whose host is gone. Returns how many there were. One that cannot be removed now is removed by `retryRemovals`. */
export async function removeStaleContainers(engine: Engine, signal?: AbortSignal): Promise<number> {
  const filters = JSON.stringify({ label: [KIND] });
  const found = await engine.call("GET", "/containers/json", { query: { all: true, filters }, signal });
  if (!Array.isArray(found)) throw new EngineError(500, "the engine's container list is not an array");
  const containers = found.flatMap((each) => listed.safeParse(each).data ?? []);
  const stale = containers.filter(({ Labels, Created, State }) => isStale(Labels, { created: Created, state: State }));
  const remove = async (id: string): Promise<void> => {
    // An engine cannot remove a container that it is starting.
    if (!(await isRemoved(engine, id, REMOVE_LIMIT_MS).catch(() => false))) engine.pendingRemovals.add(id);
  };
  const removing = Promise.all(stale.map(({ Id }) => remove(Id)));
  await (signal === undefined ? removing : orAborted(removing, signal));
  return stale.length;
}

/** What it printed, both streams, at most about 64 KiB. */
export async function outputOf(engine: Engine, id: string, signal?: AbortSignal): Promise<string> {
  const query = { stdout: true, stderr: true, tail: 500 };
  const answer = await engine.open("GET", `/containers/${id}/logs`, { query, signal });
  const chunks: Buffer[] = [];
  let total = 0;
  for await (const chunk of answer) {
    chunks.push(chunk as Buffer);
    total += (chunk as Buffer).length;
    if (total > 64 * 1024) break;
  }
  return withoutHeaders(Buffer.concat(chunks));
}

/** The streams of a container without a terminal have a header of eight bytes before each part. */
function withoutHeaders(data: Buffer): string {
  const parts: Buffer[] = [];
  let at = 0;
  while (at + 8 <= data.length) {
    const length = data.readUInt32BE(at + 4);
    parts.push(data.subarray(at + 8, at + 8 + length));
    at += 8 + length;
  }
  return Buffer.concat(parts).toString();
}
