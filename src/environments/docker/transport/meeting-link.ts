// The link to a container of a local engine: a socket and named pipes in a folder that the host and this container alone see.
//
// Nothing else of the folder is used, so what code in the container puts there has no effect. The container ends with the connection, in
// whatever way the host ends.

import { chmodSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ServerEnd, ServerLink } from "../../local/fork-server.ts";
import { namedPipes } from "../../local/pipes.ts";
import { startOfProcess } from "../../../util/start-of-process.ts";
import { deferred } from "../../../util/async/deferred.ts";
import { parseEvent, parseFirst } from "./events.ts";

/** How long the engine may take to say why a container has ended. */
const REASON_LIMIT_MS = 1_000;

export interface Meeting {
  /** What the container mounts. */
  readonly folder: string;
  /** Resolves when the container has connected. */
  readonly met: Promise<Socket>;
  link: (socket: Socket, whyEnded: Promise<string>, kill: () => void) => ServerLink;
  /** What cannot be removed stays: a container may leave files of another user. */
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
    if (status?.isDirectory() && status.uid === process.getuid?.()) rmSync(path, { recursive: true, force: true });
  }
}

function removeAll(): void {
  for (const parent of parents) rmSync(parent, { recursive: true, force: true });
}

export async function openMeeting(): Promise<Meeting> {
  // Its mode is 0700: other users cannot enter.
  const parent = mkdtempSync(join(tmpdir(), `${PREFIX}${process.pid}-${startOfProcess(process.pid)}-`));
  if (parents.size === 0) process.on("exit", removeAll);
  parents.add(parent);
  const folder = join(parent, "m");
  for (const path of [folder, join(folder, "pipes")]) {
    mkdirSync(path);
    chmodSync(path, 0o777); // the container's user is another
  }
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
    rmSync(parent, { recursive: true, force: true });
    parents.delete(parent);
    if (parents.size === 0) process.off("exit", removeAll);
  };
  return {
    folder,
    remove,
    met: connected.promise,
    link: (socket, whyEnded, kill) => {
      server.close();
      return toLink(socket, join(folder, "pipes"), whyEnded, kill);
    },
  };
}

function toLink(socket: Socket, pipes: string, whyEnded: Promise<string>, kill: () => void): ServerLink {
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
