// Lets a test file use the `docker` environment, with an image of this machine's Python.

import { findDockerEngine } from "./find-engine.ts";

/** Sets DOCKER_HOST for this process. Returns why there is no engine, if so. */
export async function useDocker(): Promise<string | undefined> {
  const found = await findDockerEngine();
  if ("why" in found) return found.why;
  process.env["DOCKER_HOST"] = found.host;
  return undefined;
}
