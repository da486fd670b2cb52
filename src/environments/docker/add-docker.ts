// `rlm env add docker` with the engine that sessions use.

import type { InstallOptions } from "../registry.ts";
import { findAddress } from "./engine/address.ts";
import { Engine } from "./engine/engine.ts";
import { explain } from "./engine/errors.ts";
import { Images } from "./images.ts";
import { installDocker } from "./install.ts";

export async function addDocker({
  docker = {},
  python,
  onProgress = () => {},
}: InstallOptions): Promise<readonly string[]> {
  const engine = new Engine(findAddress(docker.host));
  try {
    const { summary } = await installDocker(new Images(engine), { image: docker.image, python, onProgress });
    return summary;
  } catch (error) {
    throw explain(error, {});
  } finally {
    engine.close();
  }
}
