// The image of the test engine as a file in node_modules/.cache: loading it takes less than half the time of building it. Its name has a hash
// of what the image is built from: the code that builds it, the interpreter, and the packages of the system.

import { createHash } from "node:crypto";
import {
  createReadStream,
  createWriteStream,
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
} from "node:fs";
import { join, resolve } from "node:path";
import { pipeline } from "node:stream/promises";
import { findAddress } from "../../../../src/environments/docker/engine/address.ts";
import { Engine } from "../../../../src/environments/docker/engine/engine.ts";
import { findSystemImage } from "../../../../src/environments/docker/worker-image.ts";
import { remove } from "../../../remove.ts";

const FOLDER = "node_modules/.cache/rlm";
const PREFIX = "docker-image-";
const SOURCES = "src/environments/docker";
const BUILT_BY = [
  "system-image.ts",
  "install.ts",
  ...readdirSync(join(SOURCES, "image"))
    .toSorted()
    .map((name) => `image/${name}`),
];
/** It changes with every package that is installed or updated. */
const PACKAGES = "/var/lib/dpkg/status";

/** Loads the image into a new engine, or builds it and keeps it. */
export async function loadOrBuild(host: string, python: string, build: () => Promise<unknown>): Promise<void> {
  const path = join(FOLDER, `${PREFIX}${hashFor(python)}.tar`);
  const engine = new Engine(findAddress(host));
  try {
    if (existsSync(path) && (await isLoaded(engine, path))) return;
    await build();
    await keep(engine, path);
  } finally {
    engine.close();
  }
}

/** False: the file is damaged, or saved by an engine that this one does not understand. */
async function isLoaded(engine: Engine, path: string): Promise<boolean> {
  const isRefused = async (): Promise<boolean> => {
    const body = createReadStream(path);
    for await (const { error } of engine.messages("POST", "/images/load", { body }))
      if (error !== undefined) return true;
    return false;
  };
  if (await isRefused().catch(() => true)) return false;
  return (await findSystemImage(engine)) !== undefined;
}

async function keep(engine: Engine, path: string): Promise<void> {
  const image = await findSystemImage(engine);
  if (image === undefined) throw new Error("the image is not in the engine after it was built");
  for (const name of readdirSync(FOLDER)) if (name.startsWith(PREFIX)) remove(join(FOLDER, name));
  const temporary = `${path}.${process.pid}`;
  const saved = await engine.open("GET", `/images/${image.name}/get`, { limitMs: Infinity });
  await pipeline(saved, createWriteStream(temporary));
  renameSync(temporary, path);
}

function hashFor(python: string): string {
  const sum = createHash("sha256");
  for (const name of BUILT_BY)
    sum
      .update(name)
      .update("\0")
      .update(readFileSync(join(SOURCES, name)));
  for (const path of [python, PACKAGES]) {
    const found = statSync(path, { throwIfNoEntry: false });
    sum.update(`\0${resolve(path)} ${found?.size} ${found?.mtimeMs}`);
  }
  return sum.digest("hex").slice(0, 16);
}
