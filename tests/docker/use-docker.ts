// Lets a test file use the `docker` environment, with an image of this machine's Python.

import { readdirSync } from "node:fs";
import { join } from "node:path";
import { findDockerEngine } from "./find-engine.ts";

/** Sets DOCKER_HOST for this process. Returns why there is no engine, if so. */
export async function useDocker(): Promise<string | undefined> {
  const found = await findDockerEngine();
  if ("why" in found) return found.why;
  process.env["DOCKER_HOST"] = found.host;
  return undefined;
}

/** The folder of packages of the image's Python, as tests/docker/test-engine.ts makes it. The same path on this machine and in the image. */
export function sitePackages(): string {
  const folder = join(process.cwd(), "node_modules/.cache/rlm/docker-python/lib");
  const [version = ""] = readdirSync(folder).filter((name) => name.startsWith("python3"));
  return join(folder, version, "site-packages");
}
