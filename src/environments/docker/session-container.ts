// What a container of a session may do and see. It is the same for all: a read-only root, a working folder in memory, a user that owns
// nothing, no capabilities, no network unless the settings name one, and limits of the engine around those of the session.

import type { DockerOptions } from "../../api/local.ts";
import type { SandboxOptions } from "../environment.ts";
import { CLEAN_ENVIRONMENT } from "../local/fork-server.ts";
import type { ContainerSpec } from "./containers.ts";
import { unavailable } from "./engine/errors.ts";
import { labels } from "./labels.ts";
import type { DockerMounts } from "./docker-mounts.ts";
import { CODE_FOLDER, RUNTIME_FOLDER, type WorkerImage } from "./worker-image.ts";

/** Inside the container: the working folder, and where it meets the host. */
const BOX = "/box";
const MEETING = `${RUNTIME_FOLDER}/meeting`;
/** Nothing is mounted over these. */
export const OWN_FOLDERS = [BOX, RUNTIME_FOLDER];
/** For the fork server and its init, which the limits of a session do not count. */
const OWN_BYTES = 128 * 1024 * 1024;
const OWN_PROCESSES = 32;
/** For temporary files and memory that processes share. One container has one session and its forks. */
const TEMPORARY = "/tmp";
const SHARED = [TEMPORARY, "/dev/shm"];
const SHARED_MEMORY_BYTES = 64 * 1024 * 1024;
const BYTES_PER_FILE = 4096;
const MIN_FILES = 16_384;

export interface SessionContainer {
  readonly image: WorkerImage;
  readonly docker: DockerOptions;
  readonly limits: SandboxOptions["limits"];
  readonly mounts: DockerMounts;
  readonly preload: readonly string[];
  /** The folder of this machine where it meets the host. Undefined: its streams are attached. */
  readonly meeting: string | undefined;
}

export function toSpec({ image, docker, limits, mounts, preload, meeting }: SessionContainer): ContainerSpec {
  const { uid, gid } = mounts.user;
  const network = networkOf(docker);
  const options = {
    tier: "C",
    shared: SHARED,
    network: network !== "none",
    preload,
    host: 0,
    home: "/nonexistent",
    scratch: BOX,
    ...(meeting === undefined ? { streams: `${BOX}/pipes` } : { meeting: MEETING }),
  };
  const files = Math.max(MIN_FILES, Math.floor(limits.diskBytes / BYTES_PER_FILE));
  const ownFolder = `rw,exec,nosuid,nodev,size=${limits.diskBytes},nr_inodes=${files},uid=${uid},gid=${gid},mode=0700`;
  const bytes = memoryFor(docker, limits, 1);
  const isAttached = meeting === undefined;
  return {
    Image: image.id,
    Entrypoint: [image.python],
    Cmd: ["-I", "-B", `${CODE_FOLDER}/forkserver/__main__.py`, JSON.stringify(options)],
    User: `${uid}:${gid}`,
    WorkingDir: "/",
    Env: Object.entries(CLEAN_ENVIRONMENT).map(([name, value]) => `${name}=${value}`),
    Labels: labels("session"),
    NetworkDisabled: network === "none",
    AttachStdin: isAttached,
    AttachStdout: isAttached,
    AttachStderr: isAttached,
    OpenStdin: isAttached,
    StdinOnce: isAttached,
    StopSignal: "SIGKILL",
    HostConfig: {
      AutoRemove: true,
      ReadonlyRootfs: true,
      CapDrop: ["ALL"],
      SecurityOpt: ["no-new-privileges"],
      NetworkMode: network,
      IpcMode: "private",
      ShmSize: SHARED_MEMORY_BYTES,
      Tmpfs: Object.fromEntries([BOX, TEMPORARY].map((path) => [path, ownFolder])),
      Mounts: [
        ...(meeting === undefined ? [] : [{ Type: "bind", Source: meeting, Target: MEETING }]),
        ...mounts.mounts,
      ],
      Memory: bytes,
      MemorySwap: bytes,
      PidsLimit: docker.pids ?? limits.processes * (1 + limits.branches) + OWN_PROCESSES,
      LogConfig: { Type: "none" },
      ...(docker.cpus !== undefined && { NanoCpus: Math.round(docker.cpus * 1e9) }),
      ...(docker.runtime !== undefined && { Runtime: docker.runtime }),
    },
  };
}

/** Each worker and each checkpoint may hold as much memory as a session, so the engine's limit grows with them. */
export function memoryFor(docker: DockerOptions, limits: SandboxOptions["limits"], branches: number): number {
  return docker.memoryBytes ?? limits.memoryBytes * branches + limits.diskBytes + OWN_BYTES;
}

/** Throws EnvironmentUnavailableError for one that would be that of the machine or of another container. */
export function networkOf({ network = "none" }: DockerOptions): string {
  if (network !== "host" && !network.startsWith("container:")) return network;
  throw unavailable(
    `[docker] network = ${JSON.stringify(network)} would give sessions the network of ${network === "host" ? "this machine" : "another container"}`,
    "Use none, or a network of the engine that was made for sessions: docker network create NAME",
  );
}
