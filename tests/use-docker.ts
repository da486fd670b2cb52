// Lets a test file use the environment `docker`, with an image of this machine's Python.

import { addDocker } from "../src/environments/docker/setup.ts";
import { findAddress } from "../src/environments/docker/engine/address.ts";
import { Engine } from "../src/environments/docker/engine/engine.ts";
import { findSystemImage } from "../src/environments/docker/worker-image.ts";
import { findDockerEngine } from "./find-docker-engine.ts";
import { PYTHON } from "./open.ts";

/** Sets DOCKER_HOST for this process. Returns why there is no engine, if so. */
export async function useDocker(): Promise<string | undefined> {
  const found = await findDockerEngine();
  if ("why" in found) return found.why;
  process.env["DOCKER_HOST"] = found.host;
  const engine = new Engine(findAddress(found.host));
  try {
    if ((await findSystemImage(engine)) === undefined) await addDocker({ python: PYTHON });
  } finally {
    engine.close();
  }
  return undefined;
}
