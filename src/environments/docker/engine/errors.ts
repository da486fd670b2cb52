// Why the engine cannot be used, as user-facing errors.

import type { DockerOptions } from "../../../api/local.ts";
import { EnvironmentUnavailableError } from "../../../errors.ts";
import { formatSize } from "../../../util/text/format.ts";

const START_ONE =
  "Start Docker, or name its address in DOCKER_HOST or [docker] host in rlm.toml, or use --env local or --env wasm";

export function unavailable(why: string, fix: string, options?: ErrorOptions): EnvironmentUnavailableError {
  return new EnvironmentUnavailableError({ environment: "docker", why, fix }, options);
}

export function noEngine(why: string, options?: ErrorOptions): EnvironmentUnavailableError {
  return unavailable(why, START_ONE, options);
}

/** An answer of the engine that is no success. */
export class EngineError extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.name = "EngineError";
    this.status = status;
  }
}

/** Whether a container cannot be created because its image was removed. */
export function isImageGone(error: unknown): boolean {
  return error instanceof EngineError && error.status === 404 && /no such image|image not known/i.test(error.message);
}

/** For a request that got no answer. */
export function connectionFailure(address: string, error: NodeJS.ErrnoException): EnvironmentUnavailableError {
  const { code } = error;
  if (code === "EACCES" || code === "EPERM") {
    return unavailable(
      `this user may not use the Docker engine at ${address}`,
      "Add the user to the group of that socket (sudo usermod -aG docker $USER, then log in again), or use a rootless engine",
      { cause: error },
    );
  }
  if (code === "ENOENT") return noEngine(`there is no Docker engine at ${address}`, { cause: error });
  if (code === "ECONNREFUSED") return noEngine(`no Docker engine answers at ${address}`, { cause: error });
  return noEngine(`the Docker engine at ${address} cannot be reached: ${error.message}`, { cause: error });
}

/** For a request whose deadline has passed. */
export function noAnswer(address: string, limitMs: number): EnvironmentUnavailableError {
  return unavailable(
    `the Docker engine at ${address} has not answered in ${Math.ceil(limitMs / 1000)} seconds`,
    "Restart it, and see its log; or use --env local or --env wasm",
  );
}

const MOUNTS_UNSUPPORTED = "the Docker engine cannot access this machine's files, so folders cannot be mounted";

/** For mounts. */
export function mountsUnsupported(): EnvironmentUnavailableError {
  return unavailable(MOUNTS_UNSUPPORTED, "Write files into the session instead, or use an engine on this machine");
}

export function isMountsUnsupported(error: unknown): error is EnvironmentUnavailableError {
  return error instanceof EnvironmentUnavailableError && error.why === MOUNTS_UNSUPPORTED;
}

/** A user-facing error for a refusal of the engine: it names the setting that the engine refuses. Other errors are returned as they are. */
export function explain(error: unknown, docker: DockerOptions): unknown {
  if (!(error instanceof EngineError)) return error;
  const { message } = error;
  const [why, fix] = explainRefusal(message, docker);
  return unavailable(`${why}: ${message}`, fix, { cause: error });
}

/** Why, and what to do next. */
function explainRefusal(
  message: string,
  { runtime, network, cpus, memoryBytes, pids }: DockerOptions,
): readonly [string, string] {
  if (runtime !== undefined && /runtime/i.test(message)) {
    return [
      `the engine cannot use the runtime '${runtime}'`,
      "Install it and add it to the engine (dockerd --add-runtime), or leave out [docker] runtime",
    ];
  }
  if (network !== undefined && /network/i.test(message))
    return [
      `the engine cannot use the network '${network}'`,
      `Make it: docker network create ${network}; or leave out [docker] network`,
    ];
  if (cpus !== undefined && /\bcpus?\b/i.test(message)) {
    return [
      `the engine cannot give a session ${cpus} processors`,
      "Set [docker] cpus to a number in the range that the engine names, or leave it out",
    ];
  }
  if (memoryBytes !== undefined && /memory/i.test(message)) {
    return [
      `the engine cannot limit a session to ${formatSize(memoryBytes)} of memory`,
      'Set [docker] memory to a size such as "1g", or leave it out',
    ];
  }
  if (pids !== undefined && /\bpids?/i.test(message))
    return [`the engine cannot limit a session to ${pids} processes`, "Change [docker] pids, or leave it out"];
  if (message.includes("invalid mount option")) {
    return [
      "the engine does not support the tmpfs options uid, gid and nr_inodes",
      "Use Docker instead of Podman, or use --env local",
    ];
  }
  return ["the Docker engine rejected the request", "Check 'docker info' and the dockerd log"];
}
