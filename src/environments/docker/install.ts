// What `rlm env add docker` does: gets an image with Python into the engine, and checks that it runs. The configured image is pulled; where
// that is impossible, an image is built from this machine's Python, which needs no registry.

import { EnvironmentUnavailableError } from "../../errors.ts";
import { EngineError } from "./engine/errors.ts";
import { createSystemImage } from "./system-image.ts";
import { DEFAULT_IMAGE } from "./worker-image.ts";

/** Prints 2, or the version of a Python that is too old. */
const SMOKE_TEST = [
  "python3",
  "-c",
  "import sys; v = sys.version_info; print(1+1 if v >= (3, 9) else '%d.%d.%d' % v[:3])",
];
/** As a shell says it. */
const NOT_FOUND = 127;
const MAX_SHOWN = 300;

/** The part of an engine that this needs. Failures reject with a user-facing message. */
export interface ImageEngine {
  readonly address: string;
  has(image: string, options: { signal?: AbortSignal }): Promise<boolean>;
  pull(image: string, options: { onProgress: (text: string) => void; signal?: AbortSignal }): Promise<void>;
  /** Replaces the image of the same name and tag. */
  importImage(archive: AsyncIterable<Buffer>, options: ImportOptions): Promise<void>;
  /** Runs a command in a new container without network, as user 65534 on a read-only root, and removes the container. */
  run(image: string, command: readonly string[], options: { signal?: AbortSignal }): Promise<CommandEnd>;
}

export interface ImportOptions {
  readonly repository: string;
  readonly tag: string;
  /** Instructions of a Dockerfile. */
  readonly changes: readonly string[];
  readonly signal?: AbortSignal;
}

export interface CommandEnd {
  readonly exitCode: number;
  /** Both streams. */
  readonly output: string;
}

export interface InstallDockerOptions {
  /** The image to pull. Default: the configured one. */
  readonly image?: string | undefined;
  /** The image that the settings name. Undefined: `python:3.11-slim`, else one that was built. */
  readonly configured?: string | undefined;
  /** The interpreter that an image is built from. Naming one means that nothing is pulled. Default: the system's. */
  readonly python?: string | undefined;
  readonly onProgress?: (text: string) => void;
  readonly signal?: AbortSignal;
}

export interface DockerInstallation {
  /** The name to use as `[docker] image`. */
  readonly image: string;
  readonly origin: "pulled" | "built";
  /** For people: what was done, why, and how it is used. */
  readonly summary: readonly string[];
}

/** Rejects with EnvironmentUnavailableError if there is no image in which Python runs. An image that was built is then still there. */
export async function installDocker(
  engine: ImageEngine,
  options: InstallDockerOptions = {},
): Promise<DockerInstallation> {
  const { configured, image = configured ?? DEFAULT_IMAGE, python, onProgress = () => undefined, signal } = options;
  const signalled = signal === undefined ? {} : { signal };
  const refusal = python === undefined ? await pull(engine, image, onProgress, signalled) : undefined;
  if (python === undefined && refusal === undefined) {
    await smokeTest(engine, image, signalled);
    return {
      image,
      origin: "pulled",
      summary: [
        `Pulled '${image}' into the engine at ${engine.address}; Python runs in it`,
        howToUse(image, image === (configured ?? DEFAULT_IMAGE)),
      ],
    };
  }
  const built = await buildImage(engine, python, onProgress, signalled);
  await smokeTest(engine, built.name, signalled);
  const isUsed = configured === undefined ? !(await engine.has(DEFAULT_IMAGE, signalled)) : configured === built.name;
  return {
    image: built.name,
    origin: "built",
    summary: [
      ...(refusal === undefined ? [] : [`Could not pull '${image}': ${refusal}`]),
      `Built '${built.name}' from '${built.executable}' (${Math.ceil(built.bytes / 1e6)} MB) in the engine at ${engine.address}; Python runs in it`,
      howToUse(built.name, isUsed),
    ],
  };
}

function howToUse(image: string, isUsed: boolean): string {
  return isUsed
    ? "Use it: rlm exec --env docker"
    : `To use it, set image = "${image}" in the [docker] section of rlm.toml`;
}

/** Why it could not be pulled; undefined if it was. */
async function pull(
  engine: ImageEngine,
  image: string,
  onProgress: (text: string) => void,
  signalled: { readonly signal?: AbortSignal },
): Promise<string | undefined> {
  try {
    await engine.pull(image, { onProgress, ...signalled });
    return undefined;
  } catch (error) {
    signalled.signal?.throwIfAborted();
    return shorten(error instanceof Error ? error.message : String(error));
  }
}

async function buildImage(
  engine: ImageEngine,
  python: string | undefined,
  onProgress: (text: string) => void,
  signalled: { readonly signal?: AbortSignal },
): Promise<{ name: string; executable: string; bytes: number }> {
  onProgress("finding the files of Python");
  const { repository, version, changes, executable, bytes, archive } = await createSystemImage({ python });
  const options = { repository, tag: version, changes, ...signalled };
  await engine.importImage(reporting(archive(), bytes, onProgress), options);
  return { name: `${repository}:${version}`, executable, bytes };
}

/** Reports each tenth. */
async function* reporting(
  archive: AsyncIterable<Buffer>,
  total: number,
  onProgress: (text: string) => void,
): AsyncGenerator<Buffer> {
  let sent = 0;
  let tenths = 0;
  for await (const chunk of archive) {
    yield chunk;
    sent += chunk.length;
    const reached = Math.min(10, Math.floor((10 * sent) / Math.max(total, 1)));
    if (reached > tenths) onProgress(`building an image of ${Math.ceil(total / 1e6)} MB: ${reached * 10} %`);
    tenths = Math.max(tenths, reached);
  }
}

async function smokeTest(
  engine: ImageEngine,
  image: string,
  signalled: { readonly signal?: AbortSignal },
): Promise<void> {
  const { exitCode, output } = await engine.run(image, SMOKE_TEST, signalled).catch(toCommandEnd);
  const printed = output.trim();
  if (exitCode === 0 && printed === "2") return;
  const isOld = exitCode === 0 && /^\d+\.\d+\.\d+$/.test(printed);
  throw new EnvironmentUnavailableError({
    environment: "docker",
    why: isOld
      ? `image '${image}' has Python ${printed}, and sessions need 3.9 or newer`
      : `image '${image}' does not run Python: exit code ${exitCode}, output '${shorten(printed)}'`,
    fix: "Set an image with Python 3.9 or newer, such as one that 'rlm env add docker' builds",
  });
}

/** A program that the image lacks is an error of the engine: 400, or 404 in newer ones. */
function toCommandEnd(error: unknown): CommandEnd {
  if (error instanceof EngineError && (error.status === 400 || error.status === 404))
    return { exitCode: NOT_FOUND, output: error.message };
  throw error;
}

function shorten(text: string): string {
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text;
}
