// What commands ask of the engine that sessions use: `rlm env add docker` gets an image into it, `rlm doctor` only looks.

import type { DockerOptions } from "../../api/local.ts";
import { waitFor } from "../../util/async/wait-for.ts";
import type { CheckOptions, InstallOptions } from "../registry.ts";
import { finishRemovals } from "./containers.ts";
import { findAddress } from "./engine/address.ts";
import { Engine } from "./engine/engine.ts";
import { explain, noEngine, unavailable } from "./engine/errors.ts";
import { findImage, Images } from "./images.ts";
import { installDocker } from "./install.ts";
import { DEFAULT_IMAGE, findSystemImage } from "./worker-image.ts";

const LOOK_LIMIT_MS = 3_000;
const MAX_VERSION = 40;

export async function addDocker({
  docker = {},
  image,
  python,
  onProgress = () => {},
}: InstallOptions): Promise<readonly string[]> {
  const engine = new Engine(findAddress(docker.host));
  try {
    const { summary } = await installDocker(new Images(engine), {
      image,
      configured: docker.image,
      python,
      onProgress,
    });
    return summary;
  } catch (error) {
    throw explain(error, {});
  } finally {
    await finishRemovals(engine);
    engine.close();
  }
}

/** The engine and the image that sessions would use, as a sentence without a full stop. Throws EnvironmentUnavailableError. */
export async function checkDocker({ docker = {}, limitMs = LOOK_LIMIT_MS }: CheckOptions): Promise<string> {
  const engine = new Engine(findAddress(docker.host));
  try {
    const looking = look(engine, docker);
    if (await waitFor(looking, limitMs)) return await looking;
    throw noEngine(`the Docker engine at ${engine.address.text} does not answer in ${limitMs / 1000} seconds`);
  } catch (error) {
    throw explain(error, docker);
  } finally {
    engine.close();
  }
}

async function look(engine: Engine, { image: wanted, pull }: DockerOptions): Promise<string> {
  const answer = (await engine.call("GET", "/version")) as { readonly Version?: unknown } | null;
  const version = typeof answer?.Version === "string" ? answer.Version.slice(0, MAX_VERSION) : "of unknown version";
  const found = `engine ${version} at ${engine.address.text}`;
  const name = wanted ?? DEFAULT_IMAGE;
  if ((await findImage(engine, name)) !== undefined) return `${found}, image '${name}' is there`;
  const systemImage = wanted === undefined ? await findSystemImage(engine) : undefined;
  if (systemImage !== undefined) return `${found}, image '${systemImage.name}' is there`;
  const fix =
    pull === "never"
      ? "Get one with: rlm env add docker"
      : "The first session pulls it; 'rlm env add docker' does so now, or builds one from this machine's Python";
  throw unavailable(`${found} has no image '${name}'`, fix);
}
