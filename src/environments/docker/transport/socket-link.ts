// The link to a container of a local engine: a socket and named pipes in a folder that the host and this container alone see.
//
// The container may write to the folder of the pipes alone. That is held open, so whatever replaces it is not used, and nothing but named
// pipes is opened in it. The container ends with the connection, in whatever way the host ends.

import { chmodSync, closeSync, constants, lstatSync, mkdirSync, mkdtempSync, openSync, readdirSync } from "node:fs";
import { createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ServerEnd, ServerLink } from "../../local/fork-server.ts";
import { namedPipes } from "../../local/pipes.ts";
import { unavailable } from "../engine/errors.ts";
import { isGone, thisProcess, type Owner } from "../owner.ts";
import { deferred } from "../../../util/async/deferred.ts";
import { parseEvent, parseFirst } from "./events.ts";
import { removeFolder } from "./remove-folder.ts";

const CONTROL = "control";
/** How long the engine may take to say why a container has ended. */
const REASON_LIMIT_MS = 1_000;

export interface SocketFolder {
  /** What the container mounts. */
  readonly path: string;
  /** Resolves when the container has connected. */
  readonly connected: Promise<Socket>;
  link: (socket: Socket, whyEnded: Promise<string>, kill: () => void) => ServerLink;
  /** What cannot be removed stays: a container may leave files of another user. */
  remove: () => void;
}

/** Names the process that created a folder. */
const NAME =
  /^rlm-socket-(?<machine>[\da-f]*)\.(?<boot>[\da-f]*)\.(?<pidNamespace>[\da-f]*)\.(?<pid>\d+)\.(?<start>\d*)-/;
/** Bytes of the path of a socket, on every system. Node cuts off the rest without an error. */
const MAX_SOCKET_PATH = 100;
const SHORT_FOLDER = "/tmp";
/** Removed when this process exits, and by the next one if it is killed. */
const parents = new Set<string>();

/** Removes the folders of processes that are gone. One that cannot be removed stays. */
export function removeStaleSocketFolders(own: Owner = thisProcess()): void {
  for (const temporary of new Set([tmpdir(), SHORT_FOLDER])) {
    for (const name of list(temporary)) {
      const { machine = "", boot = "", pidNamespace = "", pid, start = "" } = NAME.exec(name)?.groups ?? {};
      if (pid === undefined || !isGone({ machine, boot, pidNamespace, pid: Number(pid), start }, own)) continue;
      removeOwn(join(temporary, name));
    }
  }
}

function list(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** Leaves what is another user's, and what code in a container has made so that this user cannot remove it. */
function removeOwn(path: string): void {
  try {
    const status = lstatSync(path, { throwIfNoEntry: false });
    if (status?.isDirectory() && status.uid === process.getuid?.()) removeFolder(path);
  } catch {
    // the next start tries again
  }
}

function removeAll(): void {
  for (const parent of parents) removeOwn(parent);
}

function createParent(): string {
  const { machine, boot, pidNamespace, pid, start } = thisProcess();
  const name = `rlm-socket-${machine}.${boot}.${pidNamespace}.${pid}.${start}-`;
  const length = Buffer.byteLength(join(tmpdir(), `${name}XXXXXX`, "s", CONTROL));
  const temporary = length > MAX_SOCKET_PATH ? SHORT_FOLDER : tmpdir();
  try {
    return mkdtempSync(join(temporary, name)); // its mode is 0700: other users cannot enter
  } catch (error) {
    throw noSocketFolder(temporary, error as Error);
  }
}

function noSocketFolder(place: string, cause: Error): Error {
  const why = `cannot create a socket folder in '${place}': ${cause.message}`;
  return unavailable(why, "Set TMPDIR to a writable local folder", { cause });
}

/** Throws EnvironmentUnavailableError where no folder can be created. */
export async function openSocketFolder(): Promise<SocketFolder> {
  const parent = createParent();
  if (parents.size === 0) process.on("exit", removeAll);
  parents.add(parent);
  const path = join(parent, "s");
  let pipes: number | undefined;
  const connected = deferred<Socket>();
  const server = createServer((socket) => {
    socket.on("error", () => {});
    connected.resolve(socket.unref());
  });
  server.maxConnections = 1;
  const remove = (): void => {
    server.close();
    void connected.promise.then((socket) => socket.destroy());
    if (pipes !== undefined) closeSync(pipes);
    pipes = undefined;
    removeOwn(parent);
    parents.delete(parent);
    if (parents.size === 0) process.off("exit", removeAll);
  };
  try {
    // The container's user is another. It makes pipes, and can neither add to what is beside them nor replace it.
    createFolder(path, 0o755);
    createFolder(join(path, "pipes"), 0o1777);
    pipes = openSync(join(path, "pipes"), constants.O_RDONLY | constants.O_DIRECTORY);
    const socketPath = join(path, CONTROL);
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen(socketPath, resolve);
    });
    server.unref();
    chmodSync(socketPath, 0o666);
  } catch (error) {
    remove();
    throw noSocketFolder(parent, error as Error);
  }
  return {
    path,
    remove,
    connected: connected.promise,
    link: (socket, whyEnded, kill) => {
      server.close();
      const pipesFolder = (): string => {
        if (pipes === undefined) throw new Error("the container has ended");
        return `/proc/self/fd/${pipes}`;
      };
      return toLink(socket, pipesFolder, whyEnded, kill);
    },
  };
}

function createFolder(path: string, mode: number): void {
  mkdirSync(path);
  chmodSync(path, mode);
}

function toLink(socket: Socket, pipes: () => string, whyEnded: Promise<string>, kill: () => void): ServerLink {
  socket.on("error", () => {});
  const closed = new Promise<void>((resolve) => void socket.once("close", () => resolve()));
  const ended = closed.then(async (): Promise<ServerEnd> => {
    const unknown = new Promise<string>((resolve) => {
      setTimeout(() => resolve("its container ended"), REASON_LIMIT_MS).unref();
    });
    return { why: await Promise.race([whyEnded, unknown]), facts: {} };
  });
  return {
    pipes: () => namedPipes(pipes),
    ended,
    onData: (deliver) => void socket.on("data", deliver),
    write: (line) => void socket.write(line),
    end: () => void socket.end(),
    kill: () => {
      socket.destroy();
      kill();
    },
    check: { first: parseFirst, event: parseEvent },
  };
}
