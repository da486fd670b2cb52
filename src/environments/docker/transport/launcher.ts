// Starts containers of sessions, and the link to the fork server in each: by a socket in a folder that both see where the engine is on
// this machine, by the container's attached streams elsewhere. Which of them works is found out by trying, once for each engine.

import * as z from "zod";
import type { DockerOptions } from "../../../api/local.ts";
import { onAbort } from "../../../util/async/on-abort.ts";
import { waitFor } from "../../../util/async/wait-for.ts";
import { ForkServer, type ServerLink } from "../../local/fork-server.ts";
import type { ServerEvent } from "../../local/fork-server-messages.ts";
import { createContainer, startContainer } from "../containers.ts";
import type { Engine } from "../engine/engine.ts";
import { EngineError, mountsUnsupported, unavailable } from "../engine/errors.ts";
import { attachedLink } from "./attached-link.ts";
import { openSocketFolder, type SocketFolder } from "./socket-link.ts";
import { memoryFor, toSpec, type SessionContainer } from "../session-container.ts";

type Transport = "socket" | "attach";

const OF_A_WORKER = 5;
const KILLED = 137;
/** In python/forkserver/container/host_link.py: it cannot connect to the host. */
const CANNOT_CONNECT = 75;
const CONNECT_LIMIT_MS = 60_000;
const REASON_LIMIT_MS = 1_000;
const NEVER = new Promise<never>(() => {});
/** For tests and measurements: forces one. */
const FORCED = "RLM_DOCKER_TRANSPORT";

export interface Launched {
  readonly server: ForkServer;
  /** Resolves when the container is gone. */
  remove: () => Promise<void>;
}

export type Launch = Omit<SessionContainer, "socketFolder">;
/** Resolves when a container that was started is connected. `ended`: its exit code. */
type Connect = (ended: Promise<number | undefined>, kill: () => void) => Promise<ServerLink>;

export class Launcher {
  readonly #engine: Engine;
  readonly #removeContainer: (id: string) => Promise<void>;
  readonly #stop: AbortSignal;
  #transport: Transport | undefined;

  constructor(engine: Engine, removeContainer: (id: string) => Promise<void>, stop: AbortSignal) {
    this.#engine = engine;
    this.#removeContainer = removeContainer;
    this.#stop = stop;
    const forced = process.env[FORCED];
    if (forced === "socket" || forced === "attach") this.#transport = forced;
    else if (!engine.isUnixSocket || process.platform !== "linux") this.#transport = "attach";
  }

  /** Rejects when the signal is aborted; no container is left then. */
  async launch(spec: Launch): Promise<Launched> {
    if (this.#transport !== undefined) return this.#launchBy(this.#transport, spec);
    try {
      const launched = await this.#launchBy("socket", spec);
      this.#transport = "socket";
      return launched;
    } catch (error) {
      if (!(error instanceof SocketUnavailable)) throw error;
      const launched = await this.#launchBy("attach", spec);
      this.#transport ??= "attach";
      return launched;
    }
  }

  async #launchBy(transport: Transport, spec: Launch): Promise<Launched> {
    if (transport === "socket") {
      const socketFolder = await openSocketFolder();
      return this.#launch(spec, socketFolder).catch((error: unknown) => {
        if (error instanceof SocketUnavailable && this.#transport !== undefined)
          throw startFailure(spec.docker, error.message);
        throw error;
      });
    }
    if (spec.mounts.mounts.length > 0) {
      throw mountsUnsupported();
    }
    return this.#launch(spec, undefined);
  }

  async #launch(spec: Launch, socketFolder: SocketFolder | undefined): Promise<Launched> {
    const engine = this.#engine;
    const failed = (why: string): Error => startFailure(spec.docker, why);
    const waiting = new AbortController();
    let id: string | undefined;
    const remove = once(async () => {
      try {
        if (id !== undefined) await this.#removeContainer(id);
      } finally {
        // The engine says how it ended at about the same time.
        setTimeout(() => waiting.abort(), REASON_LIMIT_MS).unref();
        socketFolder?.remove();
      }
    });
    const kill = (): void => void remove().catch(() => {});
    try {
      const path = socketFolder?.path;
      id = await createContainer(engine, toSpec({ ...spec, socketFolder: path }), this.#stop).catch(
        (error: unknown) => {
          const isFolderRefused = error instanceof EngineError && path !== undefined && error.message.includes(path);
          throw isFolderRefused ? new SocketUnavailable(error.message) : error;
        },
      );
      const connect =
        socketFolder === undefined
          ? await this.#attach(id, waiting.signal)
          : this.#connectBySocket(socketFolder, failed);
      const ended = whenEnded(engine, id, waiting.signal);
      await startContainer(engine, id, this.#stop);
      const link = await connect(ended, kill);
      const server = await ForkServer.connect(
        withGrowingMemoryLimit(link, engine, id, spec),
        { tier: "C", failed, refused: failed },
        this.#stop,
      );
      return { server, remove };
    } catch (error) {
      await remove().catch(() => {});
      throw error;
    }
  }

  async #attach(id: string, removed: AbortSignal): Promise<Connect> {
    const socket = await this.#engine.attach(id, this.#stop);
    onAbort(removed, () => socket.destroy());
    return (ended, kill) => Promise.resolve(attachedLink(socket, ended.then(describe), kill));
  }

  #connectBySocket(socketFolder: SocketFolder, failed: (why: string) => Error): Connect {
    return async (ended, kill) => {
      const early = ended.then((code): never => {
        if (code === CANNOT_CONNECT) throw new SocketUnavailable("it cannot connect to the host");
        throw failed(describe(code));
      });
      const connected = Promise.race([socketFolder.connected, early]);
      const isSettled = await waitFor(connected, CONNECT_LIMIT_MS, this.#stop);
      this.#stop.throwIfAborted();
      if (!isSettled) throw failed(`it has not connected in ${CONNECT_LIMIT_MS / 1000} seconds`);
      return socketFolder.link(await connected, ended.then(describe), kill);
    };
  }
}

/** Names the setting that may be the reason. */
function startFailure({ memoryBytes }: DockerOptions, why: string): Error {
  const raise = memoryBytes === undefined ? "" : "Raise or leave out [docker] memory. ";
  return unavailable(
    `the fork server in the container did not start: ${why}`,
    `${raise}Try another image, such as python:3.11-slim. If [docker] runtime is set, remove it: sessions need Landlock, which runsc lacks`,
  );
}

/**
 * The container and this machine share no folder, or no socket in it. Only this error makes the launcher fall back to attached streams.
 */
class SocketUnavailable extends Error {}

/**
 * Its exit code, when it has ended; undefined if that is unknown. Never rejects: an engine that ends leaves its containers running. The
 * request lasts as long as the container, or until the signal is aborted.
 */
async function whenEnded(engine: Engine, id: string, signal: AbortSignal): Promise<number | undefined> {
  const options = { query: { condition: "next-exit" }, limitMs: Infinity, signal };
  try {
    const answer = await engine.call("POST", `/containers/${id}/wait`, options);
    return z.object({ StatusCode: z.int() }).safeParse(answer).data?.StatusCode;
  } catch (error) {
    return error instanceof EngineError && error.status === 404 ? undefined : NEVER;
  }
}

function describe(code: number | undefined): string {
  if (code === KILLED) return "its container was killed";
  return code === undefined ? "its container ended" : `its container ended with ${code}`;
}

/** Lets the engine's limit of memory grow with the workers and checkpoints in the container, up to those that a session may have. */
export function withGrowingMemoryLimit(
  link: ServerLink,
  engine: Pick<Engine, "call">,
  id: string,
  { docker, limits }: Pick<Launch, "docker" | "limits">,
): ServerLink {
  const { check } = link;
  if (check === undefined || docker.memoryBytes !== undefined) return link;
  const branches = new Set<number>();
  let most = 1;
  const count = (event: ServerEvent | undefined): void => {
    if (event === undefined || !("branch" in event)) return;
    if (event.event === "cloned" || (event.event === "pipes" && event.fds.length === OF_A_WORKER)) {
      if (branches.size <= limits.branches) branches.add(event.branch);
    } else if (event.event === "exit" || event.event === "no-clone") branches.delete(event.branch);
    if (branches.size <= most || most > limits.branches) return;
    most = branches.size;
    const Memory = memoryFor(docker, limits, most);
    void engine.call("POST", `/containers/${id}/update`, { json: { Memory, MemorySwap: Memory } }).catch(() => {});
  };
  return {
    ...link,
    check: {
      ...check,
      event: (message) => {
        const event = check.event(message);
        count(event);
        return event;
      },
    },
  };
}

function once(run: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined;
  return () => (running ??= run());
}
