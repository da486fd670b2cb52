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
import { startOfProcess } from "../../../util/start-of-process.ts";
import { deferred } from "../../../util/async/deferred.ts";
import { parseEvent, parseFirst } from "./events.ts";
import { removeFolder } from "./remove-folder.ts";

/** How long the engine may take to say why a container has ended. */
const REASON_LIMIT_MS = 1_000;

export interface Meeting {
  /** What the container mounts. */
  readonly folder: string;
  /** Resolves when the container has connected. Rejects with `whyEnded` when that comes first. */
  meet: (ended: Promise<string>, kill: () => void) => Promise<ServerLink>;
  remove: () => void;
}

const PREFIX = "rlm-docker-";
/** Removed when this process exits, and by the next one if it is killed. */
const parents = new Set<string>();

/** Removes the folders of processes that are gone. */
export function removeStaleMeetings(): void {
  for (const name of readdirSync(tmpdir())) {
    const { pid = "", start } = /^rlm-docker-(?<pid>\d+)-(?<start>\d+)-/.exec(name)?.groups ?? {};
    if (start === undefined || startOfProcess(Number(pid)) === start) continue;
    const path = join(tmpdir(), name);
    const status = lstatSync(path, { throwIfNoEntry: false });
    if (status?.isDirectory() && status.uid === process.getuid?.()) removeFolder(path);
  }
}

function removeAll(): void {
  for (const parent of parents) removeFolder(parent);
}

export async function openMeeting(): Promise<Meeting> {
  // Its mode is 0700: other users cannot enter.
  const parent = mkdtempSync(join(tmpdir(), `${PREFIX}${process.pid}-${startOfProcess(process.pid)}-`));
  if (parents.size === 0) process.on("exit", removeAll);
  parents.add(parent);
  const folder = join(parent, "m");
  // The container's user is another. It makes pipes, and can neither add to what is beside them nor replace it.
  makeFolder(folder, 0o755);
  makeFolder(join(folder, "pipes"), 0o1777);
  let pipes: number | undefined = openSync(join(folder, "pipes"), constants.O_RDONLY | constants.O_DIRECTORY);
  const connected = deferred<Socket>();
  const server = createServer((socket) => connected.resolve(socket.unref()));
  server.maxConnections = 1;
  const path = join(folder, "control");
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(path, resolve);
  });
  server.unref();
  chmodSync(path, 0o666);
  const remove = (): void => {
    server.close();
    if (pipes !== undefined) closeSync(pipes);
    pipes = undefined;
    removeFolder(parent);
    parents.delete(parent);
    if (parents.size === 0) process.off("exit", removeAll);
  };
  return {
    folder,
    remove,
    meet: async (ended, kill) => {
      const socket = await Promise.race([
        connected.promise,
        ended.then((why) => {
          throw new Error(why);
        }),
      ]);
      server.close();
      const pipesFolder = (): string => {
        if (pipes === undefined) throw new Error("the container has ended");
        return `/proc/self/fd/${pipes}`;
      };
      return toLink(socket, pipesFolder, ended, kill);
    },
  };
}

function makeFolder(path: string, mode: number): void {
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
