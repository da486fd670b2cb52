// The image that sessions run in: the chosen one, with our Python code copied into it. It is built once for each image and version of that
// code, since nothing can be copied into a container whose root is read-only.

import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import * as z from "zod";
import { createContainer, outputOf, removeContainer, SHORT_LIVED, startContainer, waitForEnd } from "./containers.ts";
import type { Engine } from "./engine/engine.ts";
import { EngineError, unavailable } from "./engine/errors.ts";
import { findImage, pullImage } from "./images.ts";
import { labels } from "./labels.ts";
import { CODE_FOLDER } from "./paths.ts";
import { SYSTEM_IMAGE } from "./system-image.ts";
import { BASE_LABEL, removeStaleImages } from "./stale-images.ts";
import { tarEnd, tarHeader, tarPadding } from "./image/tar.ts";
import type { DockerOptions } from "../../api/local.ts";
import { parseJSON } from "../../util/parse-json.ts";

export const DEFAULT_IMAGE = "python:3.11-slim";
const REPOSITORY = "rlm-runtime/worker";
const PYTHON_LABEL = "dev.rlm-runtime.python";
const PYTHONS = ["python3", "/usr/local/bin/python3", "/usr/bin/python3", "python"];
/** Changes when the way an image is built does. */
const FORMAT = 2;
const BUILD_LIMIT_MS = 120_000;
/** To copy our code into a container and to commit it as an image: some engines copy all of its files. */
const COPY_LIMIT_MS = 600_000;
const MAX_PATH = 4096;
const USE_ANOTHER = "Choose an image with Python 3.9 or newer, such as python:3.11-slim";

export interface WorkerImage {
  readonly id: string;
  /** The path of the interpreter in it. */
  readonly python: string;
  /** As the user names it. */
  readonly name: string;
  /** The names of the environment variables that it sets. */
  readonly variables: readonly string[];
}

interface BuildOptions {
  readonly docker: DockerOptions;
  readonly pythonFolder: string;
  readonly onProgress: (text: string) => void;
  readonly signal: AbortSignal;
}

/** Throws EnvironmentUnavailableError for an image that cannot be had or used. */
export async function prepareImage(engine: Engine, options: BuildOptions): Promise<WorkerImage> {
  const { name, id } = await requireImage(engine, options);
  const code = readCode(options.pythonFolder);
  const tag = createHash("sha256")
    .update(JSON.stringify([FORMAT, id, code.digest]))
    .digest("hex")
    .slice(0, 24);
  const found = await findImage(engine, `${REPOSITORY}:${tag}`, options.signal);
  const python = found?.labels[PYTHON_LABEL];
  if (found !== undefined && python !== undefined) return { id: found.id, python, name, variables: found.variables };
  options.onProgress(`Preparing image ${name} for sessions`);
  const { signal } = options;
  const { variables = [] } = (await findImage(engine, id, signal)) ?? {};
  const built = await buildImage(engine, { name, id, tag, archive: code.archive, signal });
  await removeStaleImages(engine, built.id, signal);
  return { ...built, name, variables };
}

interface BaseImage {
  readonly name: string;
  readonly id: string;
}

/** Where no image is chosen, the one that `rlm env add docker` has built serves in place of a default that is missing or cannot be pulled. */
async function requireImage(engine: Engine, { docker, onProgress, signal }: BuildOptions): Promise<BaseImage> {
  const { image: wanted, pull = "missing" } = docker;
  const name = wanted ?? DEFAULT_IMAGE;
  const found = await findImage(engine, name, signal);
  if (found !== undefined && pull !== "always") return { name, id: found.id };
  const substitute = wanted === undefined && found === undefined ? await findSystemImage(engine, signal) : undefined;
  if (substitute !== undefined && pull !== "always") return substitute;
  if (pull === "never") {
    throw unavailable(`the engine has no image '${name}', and [docker] pull is never`, addImage(docker));
  }
  try {
    await pullImage(engine, name, { onProgress, signal });
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
    if (substitute !== undefined) {
      onProgress(`Cannot pull ${name}: sessions use ${substitute.name}`);
      return substitute;
    }
    const fix =
      found === undefined ? addImage(docker) : `To use the one that the engine has, set [docker] pull to missing`;
    throw unavailable(`image '${name}' cannot be pulled: ${error.message}`, fix, { cause: error });
  }
  const pulled = await findImage(engine, name, signal);
  if (pulled === undefined)
    throw unavailable(`the engine does not list image '${name}' after pulling it`, addImage(docker));
  return { name, id: pulled.id };
}

function addImage({ image }: DockerOptions): string {
  return image === undefined
    ? `Pull it with 'docker pull ${DEFAULT_IMAGE}', or build one from this machine's Python with 'rlm env add docker'`
    : `Pull it with 'docker pull ${image}', or set [docker] image to one that the engine has: 'rlm env add docker' adds one`;
}

const listed = z.object({
  Id: z.string().min(1).max(200),
  Created: z.number(),
  RepoTags: z.array(z.string()).nullish(),
});

/** The newest that `rlm env add docker` has built. */
export async function findSystemImage(engine: Engine, signal?: AbortSignal): Promise<BaseImage | undefined> {
  const filters = JSON.stringify({ reference: [SYSTEM_IMAGE] });
  const found = await engine.call("GET", "/images/json", { query: { filters }, signal });
  if (!Array.isArray(found)) throw new EngineError(500, "the engine's image list is not an array");
  const images = found.flatMap((each) => listed.safeParse(each).data ?? []);
  const [newest] = images.toSorted((a, b) => b.Created - a.Created);
  return newest === undefined ? undefined : { name: newest.RepoTags?.[0] ?? SYSTEM_IMAGE, id: newest.Id };
}

/** Ends with 3 for a Python that is too old, also for Python 2. */
const CHECK = `import sys
print("python %d.%d.%d" % tuple(sys.version_info[:3]))
if sys.version_info < (3, 9): sys.exit(3)
import json, compileall
if not compileall.compile_dir("${CODE_FOLDER}", quiet=2): sys.exit(4)
print(json.dumps({"executable": sys.executable}))`;

interface BuildRequest {
  readonly name: string;
  readonly id: string;
  readonly tag: string;
  readonly archive: Buffer;
  readonly signal: AbortSignal;
}

async function buildImage(
  engine: Engine,
  request: BuildRequest,
): Promise<{ readonly id: string; readonly python: string }> {
  const { name, id: base, tag, archive, signal } = request;
  for (const python of PYTHONS) {
    const spec = {
      Image: base,
      Entrypoint: [python],
      Cmd: ["-I", "-c", CHECK],
      User: "0:0",
      WorkingDir: "/",
      NetworkDisabled: true,
      Labels: labels("build"),
      HostConfig: SHORT_LIVED,
    };
    const id = await createContainer(engine, spec, signal);
    try {
      const copy = { query: { path: "/" }, body: archive, signal, limitMs: COPY_LIMIT_MS };
      await engine.call("PUT", `/containers/${id}/archive`, copy);
      if (!(await hasStarted(engine, id, signal))) continue;
      const code = await waitForEnd(engine, id, { limitMs: BUILD_LIMIT_MS, signal });
      if (code === undefined) {
        throw unavailable(
          `Python in image '${name}' did not finish within ${BUILD_LIMIT_MS / 1000} seconds`,
          USE_ANOTHER,
        );
      }
      const executable = parseBuildOutput(name, code, await outputOf(engine, id, signal));
      const ours = { ...labels("worker"), [PYTHON_LABEL]: executable, [BASE_LABEL]: base };
      const config = { Labels: ours, Healthcheck: { Test: ["NONE"] } };
      const query = { container: id, repo: REPOSITORY, tag };
      const committed = await engine.call("POST", "/commit", { query, json: config, signal, limitMs: COPY_LIMIT_MS });
      const { data } = z.object({ Id: z.string().min(1).max(200) }).safeParse(committed);
      if (data === undefined) throw new EngineError(500, "the engine returned no image ID");
      return { id: data.Id, python: executable };
    } finally {
      await removeContainer(engine, id).catch(() => {}); // it is tried again
    }
  }
  throw unavailable(`image '${name}' has no python3`, USE_ANOTHER);
}

/** False: the program does not exist there. */
async function hasStarted(engine: Engine, id: string, signal: AbortSignal): Promise<boolean> {
  try {
    await startContainer(engine, id, signal);
    return true;
  } catch (error) {
    if (error instanceof EngineError && /not found|no such file|permission denied/i.test(error.message)) return false;
    throw error;
  }
}

/** By code of the image: the path of its interpreter. */
const printed = z.object({ executable: z.string().startsWith("/").max(MAX_PATH) });

/** Returns the path of the interpreter. */
function parseBuildOutput(image: string, code: number, output: string): string {
  const lines = output.trim().split("\n");
  const version = /^python (?<version>[\d.]+)$/.exec(lines[0] ?? "")?.groups?.["version"];
  if (code === 3 && version !== undefined) {
    throw unavailable(
      `image '${image}' has Python ${version}, and sessions need 3.9 or newer`,
      "Choose a newer image, such as python:3.11-slim",
    );
  }
  const { data } = printed.safeParse(parseJSON(lines.at(-1) ?? ""));
  if (code === 0 && data !== undefined) return data.executable;
  const last = (lines.at(-1) ?? "").slice(0, 300);
  throw unavailable(
    `Python does not run in image '${image}': it ended with ${code}${last && `, ${last}`}`,
    USE_ANOTHER,
  );
}

/** Our Python code as an archive, and a digest of it. */
function readCode(folder: string): { readonly archive: Buffer; readonly digest: string } {
  const parts: Buffer[] = [];
  const addFolder = (path: string): void => void parts.push(tarHeader({ kind: "folder", path, mode: 0o755, mtime: 0 }));
  const inArchive = CODE_FOLDER.slice(1);
  inArchive.split("/").forEach((_, index, names) => addFolder(names.slice(0, index + 1).join("/")));
  const walk = (from: string, to: string): void => {
    const entries = readdirSync(from, { withFileTypes: true }).toSorted((a, b) => (a.name < b.name ? -1 : 1));
    for (const entry of entries) {
      if (entry.name === "__pycache__") continue;
      const [source, path] = [join(from, entry.name), `${to}/${entry.name}`];
      if (entry.isDirectory()) {
        addFolder(path);
        walk(source, path);
      } else if (entry.isFile()) {
        const content = readFileSync(source);
        parts.push(tarHeader({ kind: "file", path, mode: 0o644, mtime: 0, size: content.length }), content);
        parts.push(tarPadding(content.length));
      }
    }
  };
  walk(folder, inArchive);
  const archive = Buffer.concat([...parts, tarEnd()]);
  return { archive, digest: createHash("sha256").update(archive).digest("hex") };
}
