// Images of an engine: found, pulled with progress, imported, and checked.

import { Readable } from "node:stream";
import * as z from "zod";
import { createContainer, outputOf, removeContainer, SHORT_LIVED, startContainer, waitForEnd } from "./containers.ts";
import type { Engine } from "./engine/engine.ts";
import { EngineError, unavailable } from "./engine/errors.ts";
import type { CommandEnd, ImageEngine, ImportOptions } from "./install.ts";
import { labels } from "./labels.ts";
import { SYSTEM_IMAGE_LABEL } from "./system-image.ts";

const CHECK_LIMIT_MS = 60_000;
const REMOVE_LIMIT_MS = 20_000;
/** As a shell says it. */
const OUT_OF_TIME = 124;
/** A name as Docker writes it: it goes into the path of a request. */
const NAME = /^[\w][\w.\-/:@]{0,300}$/;

export interface Image {
  readonly id: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Whether it has a name, and not only an id. */
  readonly isNamed: boolean;
  /** Whether it came from an archive, and not from another image, whose labels it would have. */
  readonly isImported: boolean;
  /** The names of the environment variables that it sets. */
  readonly variables: readonly string[];
}

const strings = z.array(z.string()).nullish();
const inspected = z.object({
  Id: z.string().min(1).max(200),
  RepoTags: strings,
  RepoDigests: strings,
  Comment: z.string().nullish(),
  Config: z.object({ Labels: z.record(z.string(), z.string()).nullish(), Env: strings }).nullish(),
});

/** Undefined: the engine does not have it. */
export async function findImage(engine: Engine, name: string, signal?: AbortSignal): Promise<Image | undefined> {
  if (!NAME.test(name) || name.includes("..")) {
    throw unavailable(`${JSON.stringify(name)} is not a valid image name`, "Use one like python:3.11-slim");
  }
  try {
    const { data: found } = inspected.safeParse(await engine.call("GET", `/images/${name}/json`, { signal }));
    if (found === undefined) throw new EngineError(500, "the engine returned no image ID");
    const isNamed = [...(found.RepoTags ?? []), ...(found.RepoDigests ?? [])].length > 0;
    const isImported = found.Comment?.startsWith("Imported from") ?? false;
    const { Labels, Env } = found.Config ?? {};
    const variables = (Env ?? []).map((text) => text.replace(/=.*$/s, ""));
    return { id: found.Id, labels: Labels ?? {}, isNamed, isImported, variables };
  } catch (error) {
    if (error instanceof EngineError && error.status === 404) return undefined;
    throw error;
  }
}

/** Removes an image that `rlm env add docker` has built and that has no name any more, unless something is made from it. */
export async function removeNameless(engine: Engine, id: string, signal?: AbortSignal): Promise<void> {
  try {
    const image = await findImage(engine, id, signal);
    const isOurs = image?.isImported && image.labels[SYSTEM_IMAGE_LABEL.name] === SYSTEM_IMAGE_LABEL.value;
    if (isOurs && !image.isNamed) await engine.call("DELETE", `/images/${id}`, { signal, limitMs: REMOVE_LIMIT_MS });
  } catch (error) {
    if (!(error instanceof EngineError)) throw error; // else it is in use
  }
}

interface PullOptions {
  readonly onProgress: (text: string) => void;
  readonly signal?: AbortSignal;
}

/** Rejects with EngineError: why it cannot be pulled. */
export async function pullImage(engine: Engine, name: string, { onProgress, signal }: PullOptions): Promise<void> {
  const { repository, tag } = splitName(name);
  const layers = new Map<string, { readonly done: number; readonly all: number }>();
  onProgress(`Pulling ${name}`);
  const query = { fromImage: repository, tag };
  let isDone = false;
  for await (const message of engine.messages("POST", "/images/create", { query, ...(signal && { signal }) })) {
    const { error, status, id, progressDetail } = message as PullMessage;
    if (typeof error === "string") throw new EngineError(500, error.slice(0, 500));
    if (typeof id === "string" && layers.size < 1000) {
      const { current = 0, total = 0 } = progressDetail ?? {};
      if (Number(total) > 0) layers.set(id, { done: Number(current), all: Number(total) });
    }
    if (typeof status === "string" && /^(?:Status|Digest)/.test(status)) isDone = true;
    onProgress(describe(name, layers));
  }
  if (!isDone && (await findImage(engine, name, signal)) === undefined) {
    throw new EngineError(500, "the connection ended before the image was complete");
  }
}

interface PullMessage {
  readonly error?: unknown;
  readonly status?: unknown;
  readonly id?: unknown;
  readonly progressDetail?: { readonly current?: unknown; readonly total?: unknown };
}

function describe(name: string, layers: ReadonlyMap<string, { readonly done: number; readonly all: number }>): string {
  let done = 0;
  let all = 0;
  for (const layer of layers.values()) {
    done += layer.done;
    all += layer.all;
  }
  return all === 0
    ? `Pulling ${name}`
    : `Pulling ${name}: ${Math.floor((100 * Math.min(done, all)) / all)} % of ${megabytes(all)}`;
}

function megabytes(bytes: number): string {
  return `${Math.max(1, Math.round(bytes / 1e6))} MB`;
}

/** Without a tag, the engine would pull all of them. */
function splitName(name: string): { readonly repository: string; readonly tag: string } {
  const digest = name.indexOf("@");
  if (digest > 0) return { repository: name.slice(0, digest), tag: name.slice(digest + 1) };
  const colon = name.lastIndexOf(":");
  if (colon > name.lastIndexOf("/")) return { repository: name.slice(0, colon), tag: name.slice(colon + 1) };
  return { repository: name, tag: "latest" };
}

/** What `rlm env add docker` needs of an engine. */
export class Images implements ImageEngine {
  readonly address: string;
  readonly #engine: Engine;

  constructor(engine: Engine) {
    this.#engine = engine;
    this.address = engine.address.text;
  }

  async has(image: string, { signal }: { signal?: AbortSignal }): Promise<boolean> {
    return (await findImage(this.#engine, image, signal)) !== undefined;
  }

  pull(image: string, options: PullOptions): Promise<void> {
    return pullImage(this.#engine, image, options);
  }

  async importImage(
    archive: AsyncIterable<Buffer>,
    { repository, tag, changes, signal }: ImportOptions,
  ): Promise<void> {
    const name = `${repository}:${tag}`;
    const replaced = await findImage(this.#engine, name, signal);
    const query = new URLSearchParams([
      ["fromSrc", "-"],
      ["repo", name], // Podman ignores a tag of its own
      ...changes.map((change): [string, string] => ["changes", change]),
    ]);
    const body = Readable.from(archive);
    const path = `/images/create?${query.toString()}`;
    for await (const { error } of this.#engine.messages("POST", path, { body, ...(signal && { signal }) })) {
      if (typeof error === "string") throw new EngineError(500, error.slice(0, 500));
    }
    if (replaced !== undefined) await removeNameless(this.#engine, replaced.id, signal);
  }

  async run(image: string, command: readonly string[], { signal }: { signal?: AbortSignal }): Promise<CommandEnd> {
    const spec = {
      Image: image,
      Entrypoint: command.slice(0, 1),
      Cmd: command.slice(1),
      User: "65534:65534",
      NetworkDisabled: true,
      Labels: labels("check"),
      HostConfig: { ...SHORT_LIVED, ReadonlyRootfs: true },
    };
    const id = await createContainer(this.#engine, spec, signal);
    try {
      await startContainer(this.#engine, id, signal);
      const exitCode = await waitForEnd(this.#engine, id, { limitMs: CHECK_LIMIT_MS, signal });
      if (exitCode === undefined)
        return { exitCode: OUT_OF_TIME, output: `it did not finish within ${CHECK_LIMIT_MS / 1000} seconds` };
      return { exitCode, output: await outputOf(this.#engine, id, signal) };
    } finally {
      await removeContainer(this.#engine, id).catch(() => {}); // it is tried again
    }
  }
}
