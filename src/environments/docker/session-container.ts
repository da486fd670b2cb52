// What a container of a session may do and see. It is the same for all: a read-only root, a working folder in memory, a user that owns
// nothing, no capabilities, no network unless the settings name one, and limits of the engine around those of the session.

import type { DockerOptions } from "../../api/local.ts";
import type { SandboxOptions } from "../environment.ts";
import { CLEAN_ENVIRONMENT } from "../local/fork-server.ts";
import type { ContainerSpec } from "./containers.ts";
import { unavailable } from "./engine/errors.ts";
import { labels } from "./labels.ts";
import type { DockerMounts } from "./docker-mounts.ts";
import { BOX, CODE_FOLDER, PIPES_FOLDER, SOCKET_FOLDER } from "./paths.ts";
import type { WorkerImage } from "./worker-image.ts";

/** For the fork server and its init, which the limits of a session do not count. */
const OWN_BYTES = 128 * 1024 * 1024;
const OWN_PROCESSES = 32;
/** With fewer a session does not open, or its files cannot be reached. */
const LEAST_PROCESSES = 8;
/** For temporary files and memory that processes share. One container has one session and its forks. */
const TEMPORARY = "/tmp";
const SHARED_MEMORY = "/dev/shm";
const SHARED_MEMORY_BYTES = 64 * 1024 * 1024;
const BYTES_PER_FILE = 4096;
const MIN_FILES = 16_384;
/** What the kernel holds for each file in memory. */
const KERNEL_BYTES_PER_FILE = 1024;
const PIPES_FOLDER_BYTES = 64 * 1024;
const MAX_PIPES = 4096;

/** Variables of the image that its programs need to be found and to start. No other reaches a session. */
const KEPT_VARIABLES = ["PATH", "LD_LIBRARY_PATH"];

export interface SessionContainer {
  readonly image: WorkerImage;
  readonly docker: DockerOptions;
  readonly limits: SandboxOptions["limits"];
  readonly mounts: DockerMounts;
  readonly preload: readonly string[];
  /** The folder of this machine with the socket that it connects to. Undefined: its streams are attached. */
  readonly socketFolder: string | undefined;
}

export function toSpec({ image, docker, limits, mounts, preload, socketFolder }: SessionContainer): ContainerSpec {
  const { uid, gid } = mounts.user;
  const network = networkOf(docker);
  const options = {
    tier: "C",
    shared: [TEMPORARY, SHARED_MEMORY],
    network: network !== "none",
    preload,
    host: 0,
    home: "/nonexistent",
    scratch: BOX,
    scratchIsMount: true,
    ...(socketFolder === undefined ? { pipesFolder: `${PIPES_FOLDER}/pipes` } : { socketFolder: SOCKET_FOLDER }),
  };
  const owned = `rw,nosuid,nodev,uid=${uid},gid=${gid},mode=0700`;
  const ownFolder = `${owned},exec,size=${limits.diskBytes},nr_inodes=${filesFor(limits)}`;
  const bytes = memoryFor(docker, limits, 1);
  const isAttached = socketFolder === undefined;
  return {
    Image: image.id,
    Entrypoint: [image.python],
    Cmd: ["-I", "-B", `${CODE_FOLDER}/forkserver/__main__.py`, JSON.stringify(options)],
    User: `${uid}:${gid}`,
    WorkingDir: "/",
    Env: environmentOf(image),
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
      Init: false, // the fork server must be process 1: it ends with the host, and the container with it
      Tmpfs: {
        [BOX]: ownFolder,
        [TEMPORARY]: ownFolder,
        [SHARED_MEMORY]: `${owned},noexec,size=${SHARED_MEMORY_BYTES},nr_inodes=${MIN_FILES}`,
        ...(isAttached && { [PIPES_FOLDER]: `${owned},noexec,size=${PIPES_FOLDER_BYTES},nr_inodes=${MAX_PIPES}` }),
      },
      Mounts: [
        ...(socketFolder === undefined ? [] : [{ Type: "bind", Source: socketFolder, Target: SOCKET_FOLDER }]),
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

/** A name without a value removes what the image sets. */
function environmentOf({ variables }: WorkerImage): string[] {
  const removed = variables.filter(
    (name) => name !== "" && !KEPT_VARIABLES.includes(name) && !(name in CLEAN_ENVIRONMENT),
  );
  return [...Object.entries(CLEAN_ENVIRONMENT).map(([name, value]) => `${name}=${value}`), ...removed];
}

/**
 * Each worker and each checkpoint may hold as much memory as a session, so the engine's limit grows with them. Files are memory, too: full
 * folders take nothing from what a session may hold.
 */
export function memoryFor(docker: DockerOptions, limits: SandboxOptions["limits"], branches: number): number {
  const ownFolder = limits.diskBytes + filesFor(limits) * KERNEL_BYTES_PER_FILE;
  const sharedMemory = SHARED_MEMORY_BYTES + MIN_FILES * KERNEL_BYTES_PER_FILE;
  return docker.memoryBytes ?? limits.memoryBytes * branches + 2 * ownFolder + sharedMemory + OWN_BYTES;
}

/** How many files its folder in memory may have. */
function filesFor({ diskBytes }: SandboxOptions["limits"]): number {
  return Math.max(MIN_FILES, Math.floor(diskBytes / BYTES_PER_FILE));
}

/** Throws EnvironmentUnavailableError where the settings allow too few. */
export function checkProcesses({ pids }: DockerOptions): void {
  if (pids === undefined || pids >= LEAST_PROCESSES) return;
  const why = `[docker] pids = ${pids} limits all processes and threads of a container, and a session needs at least ${LEAST_PROCESSES}`;
  throw unavailable(why, "Raise it, or leave it out");
}

/** Throws EnvironmentUnavailableError for one that would be that of the machine or of another container. */
export function networkOf({ network = "none" }: DockerOptions): string {
  if (network !== "host" && !network.startsWith("container:")) return network;
  throw unavailable(
    `[docker] network = ${JSON.stringify(network)} would give sessions the network of ${network === "host" ? "this machine" : "another container"}`,
    "Use none, or a network of the engine that was made for sessions: docker network create NAME",
  );
}
