// Containers of an engine: made, started, ended and removed. Each has our labels, so that the sweep finds what a killed host left.

import type { Engine } from "./engine/engine.ts";
import { EngineError } from "./engine/errors.ts";
import { isOrphan, KIND } from "./labels.ts";

export interface ContainerSpec {
  readonly Image: string;
  readonly HostConfig: Readonly<Record<string, unknown>>;
  readonly Labels: Readonly<Record<string, string>>;
  readonly [key: string]: unknown;
}

/** Its id. */
export async function createContainer(engine: Engine, spec: ContainerSpec, signal?: AbortSignal): Promise<string> {
  const answer = (await engine.call("POST", "/containers/create", {
    json: spec,
    ...(signal && { signal }),
  })) as { readonly Id?: unknown } | null;
  if (typeof answer?.Id !== "string" || !/^[\da-f]{12,64}$/.test(answer.Id)) {
    throw new EngineError(500, "the engine named no container");
  }
  return answer.Id;
}

export async function startContainer(engine: Engine, id: string): Promise<void> {
  await engine.call("POST", `/containers/${id}/start`);
}

/** Resolves with its exit code when it has ended. */
export async function waitForEnd(engine: Engine, id: string): Promise<number> {
  const answer = (await engine.call("POST", `/containers/${id}/wait`)) as { readonly StatusCode?: unknown } | null;
  return typeof answer?.StatusCode === "number" ? answer.StatusCode : -1;
}

/** Ends and removes it. Resolves when it is gone, also where it was gone already. */
export async function removeContainer(engine: Engine, id: string): Promise<void> {
  try {
    await engine.call("DELETE", `/containers/${id}`, { query: { force: true, v: true } });
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
    if (error.status === 404) return;
    if (error.status !== 409) throw error;
    // It is being removed already.
    await engine.call("POST", `/containers/${id}/wait`, { query: { condition: "removed" } }).catch(() => {});
  }
}

interface Listed {
  readonly Id: string;
  readonly Labels?: Readonly<Record<string, string>>;
}

/** Removes containers whose host is gone. Returns how many. */
export async function sweep(engine: Engine): Promise<number> {
  const filters = JSON.stringify({ label: [KIND] });
  const found = (await engine.call("GET", "/containers/json", { query: { all: true, filters } })) as readonly Listed[];
  const orphans = found.filter((each) => isOrphan(each.Labels ?? {}));
  await Promise.all(orphans.map(({ Id }) => removeContainer(engine, Id).catch(() => {})));
  return orphans.length;
}

/** What it printed, both streams, at most about 64 KiB. */
export async function outputOf(engine: Engine, id: string): Promise<string> {
  const answer = await engine.open("GET", `/containers/${id}/logs`, {
    query: { stdout: true, stderr: true, tail: 500 },
  });
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
