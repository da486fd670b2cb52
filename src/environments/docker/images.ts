// Images of an engine: pull one, import one, try one.

import { Readable } from "node:stream";
import { z } from "zod";
import type { Engine } from "./engine/engine.ts";
import { EngineError } from "./engine/errors.ts";
import type { CommandEnd, ImageEngine, ImportOptions } from "./install.ts";

/** So that a sweep finds a container whose starter died. */
const TRIAL_LABELS = { "dev.rlm-runtime.kind": "trial" };
const TRIAL_LIMITS = { Memory: 512 << 20, PidsLimit: 64 };
const MAX_OUTPUT_LINES = 20;
const MAX_OUTPUT_BYTES = 10_000;
/** More layers than an image can have. Later ones are not counted. */
const MAX_LAYERS = 200;
const MEGABYTE = 1e6;

const message = z.object({
  status: z.string().optional(),
  id: z.string().optional(),
  error: z.string().optional(),
  progressDetail: z
    .object({ current: z.number().nonnegative().optional(), total: z.number().nonnegative().optional() })
    .optional(),
});
const created = z.object({ Id: z.string().regex(/^[0-9a-f]{12,64}$/) });
const waited = z.object({ StatusCode: z.number().int() });

interface PullOptions {
  readonly onProgress: (text: string) => void;
  readonly signal?: AbortSignal;
}

/** Rejects with EngineError where the registry or the engine refuses. */
export async function pullImage(engine: Engine, image: string, { onProgress, signal }: PullOptions): Promise<void> {
  // Without a tag the engine would pull all of them.
  const tag = /[@:][^/]*$/.test(image) ? undefined : "latest";
  const layers = new Map<string, { current: number; total: number }>();
  let shown = "";
  onProgress(`pulling ${image}`);
  for await (const line of engineMessages(engine, { fromImage: image, tag }, signal)) {
    if (line.status !== "Downloading" || line.id === undefined) continue;
    if (layers.size >= MAX_LAYERS && !layers.has(line.id)) continue;
    const { current = 0, total = 0 } = line.progressDetail ?? {};
    layers.set(line.id, { current, total });
    const text = describeLayers(image, [...layers.values()]);
    if (text !== shown) onProgress(text);
    shown = text;
  }
}

/** Whole megabytes, so that it changes seldom. */
function describeLayers(
  image: string,
  layers: readonly { readonly current: number; readonly total: number }[],
): string {
  const sum = (key: "current" | "total"): number =>
    Math.ceil(layers.reduce((bytes, layer) => bytes + layer[key], 0) / MEGABYTE);
  return `pulling ${image}: ${sum("current")} of ${sum("total")} MB`;
}

async function importImage(engine: Engine, archive: AsyncIterable<Buffer>, options: ImportOptions): Promise<void> {
  const { repository, tag, changes, signal } = options;
  const query = { fromSrc: "-", repo: repository, tag, changes: changes.length === 0 ? undefined : changes.join("\n") };
  for await (const line of engineMessages(engine, query, signal, Readable.from(archive, { objectMode: false })))
    void line;
}

async function* engineMessages(
  engine: Engine,
  query: Readonly<Record<string, string | undefined>>,
  signal: AbortSignal | undefined,
  body?: Readable,
): AsyncGenerator<z.infer<typeof message>> {
  const options = { query, ...(body !== undefined && { body }), ...(signal !== undefined && { signal }) };
  for await (const line of engine.messages("POST", "/images/create", options)) {
    signal?.throwIfAborted();
    const parsed = message.parse(line);
    // The status was sent before the failure.
    if (parsed.error !== undefined) throw new EngineError(500, parsed.error);
    yield parsed;
  }
}

/** A container without network, writable folders and privileges, which is removed. */
async function tryImage(
  engine: Engine,
  image: string,
  command: readonly string[],
  { signal }: { readonly signal?: AbortSignal },
): Promise<CommandEnd> {
  const options = signal === undefined ? {} : { signal };
  const { Id: id } = created.parse(
    await engine.call("POST", "/containers/create", {
      ...options,
      json: {
        Image: image,
        Entrypoint: command.slice(0, 1),
        Cmd: command.slice(1),
        User: "65534:65534",
        Labels: TRIAL_LABELS,
        // One stream, without headers in it.
        Tty: true,
        HostConfig: {
          NetworkMode: "none",
          ReadonlyRootfs: true,
          CapDrop: ["ALL"],
          SecurityOpt: ["no-new-privileges"],
          ...TRIAL_LIMITS,
        },
      },
    }),
  );
  try {
    await engine.call("POST", `/containers/${id}/start`, options);
    const { StatusCode: exitCode } = waited.parse(await engine.call("POST", `/containers/${id}/wait`, options));
    const query = { stdout: true, stderr: true, tail: MAX_OUTPUT_LINES };
    return {
      exitCode,
      output: await readStart(await engine.open("GET", `/containers/${id}/logs`, { ...options, query })),
    };
  } finally {
    await engine.call("DELETE", `/containers/${id}`, { query: { force: true } });
  }
}

async function readStart(stream: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of stream) {
    if (length < MAX_OUTPUT_BYTES) chunks.push(chunk);
    length += chunk.length;
  }
  return Buffer.concat(chunks).toString("utf8", 0, MAX_OUTPUT_BYTES);
}

/** What `rlm env add docker` needs of an engine. */
export class Images implements ImageEngine {
  readonly address: string;
  readonly #engine: Engine;

  constructor(engine: Engine) {
    this.#engine = engine;
    this.address = engine.address.text;
  }

  pull(image: string, options: PullOptions): Promise<void> {
    return pullImage(this.#engine, image, options);
  }

  importImage(archive: AsyncIterable<Buffer>, options: ImportOptions): Promise<void> {
    return importImage(this.#engine, archive, options);
  }

  run(image: string, command: readonly string[], options: { signal?: AbortSignal }): Promise<CommandEnd> {
    return tryImage(this.#engine, image, command, options);
  }
}
