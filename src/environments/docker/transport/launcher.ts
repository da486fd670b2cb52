// Starts containers of sessions, and the link to the fork server in each: by a folder that both sides see where the engine is on this
// machine, by the container's attached streams elsewhere. Which of them works is found out by trying, once for each engine.

import { ForkServer, type ServerLink } from "../../local/fork-server.ts";
import type { ServerEvent } from "../../local/fork-server-messages.ts";
import { createContainer, startContainer } from "../containers.ts";
import type { Engine } from "../engine/engine.ts";
import { EngineError, unavailable } from "../engine/errors.ts";
import { attachedLink } from "./attached-link.ts";
import { openMeeting } from "./meeting-link.ts";
import { memoryFor, toSpec, type SessionContainer } from "../session-container.ts";

type Transport = "meeting" | "attach";

const OF_A_WORKER = 5;
const KILLED = 137;
const NEVER = new Promise<never>(() => {});
/** For tests and measurements: forces one. */
const FORCED = "RLM_DOCKER_TRANSPORT";

export interface Launched {
  readonly server: ForkServer;
  /** Resolves when the container is gone. */
  remove: () => Promise<void>;
}

type Launch = Omit<SessionContainer, "meeting">;

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
    if (forced === "meeting" || forced === "attach") this.#transport = forced;
    else if (!engine.isSocket || process.platform !== "linux") this.#transport = "attach";
  }

  async launch(spec: Launch): Promise<Launched> {
    if (this.#transport !== undefined) return this.#launchBy(this.#transport, spec);
    try {
      const launched = await this.#launchBy("meeting", spec);
      this.#transport = "meeting";
      return launched;
    } catch (error) {
      if (!(error instanceof NotMet)) throw error;
      const launched = await this.#launchBy("attach", spec);
      this.#transport = "attach";
      return launched;
    }
  }

  #launchBy(transport: Transport, spec: Launch): Promise<Launched> {
    if (transport === "meeting") return this.#launchMeeting(spec);
    if (spec.mounts.mounts.length > 0) {
      throw unavailable(
        "the Docker engine does not see files of this machine, so that folders cannot be mounted",
        "Write files into the session instead, or use an engine on this machine",
      );
    }
    return this.#launchAttached(spec);
  }

  async #launchAttached(spec: Launch): Promise<Launched> {
    const engine = this.#engine;
    const id = await createContainer(engine, toSpec({ ...spec, meeting: undefined }), this.#stop);
    const remove = once(() => this.#removeContainer(id));
    try {
      const socket = await engine.attach(id);
      const ended = whenEnded(engine, id);
      await startContainer(engine, id);
      const kill = (): void => void remove().catch(() => {});
      const server = await this.#connect(growing(attachedLink(socket, ended, kill), engine, id, spec));
      return { server, remove };
    } catch (error) {
      await remove().catch(() => {});
      throw error;
    }
  }

  async #launchMeeting(spec: Launch): Promise<Launched> {
    const engine = this.#engine;
    const meeting = await openMeeting();
    let id: string | undefined;
    const remove = async (): Promise<void> => {
      try {
        if (id !== undefined) await this.#removeContainer(id);
      } finally {
        meeting.remove();
      }
    };
    try {
      id = await createContainer(engine, toSpec({ ...spec, meeting: meeting.folder }), this.#stop).catch(
        (error: unknown) => {
          if (error instanceof EngineError && error.message.includes("bind source path"))
            throw new NotMet(error.message);
          throw error;
        },
      );
      const ended = whenEnded(engine, id);
      await startContainer(engine, id);
      const kill = (): void => void remove().catch(() => {});
      const link = await meeting.meet(ended, kill).catch((error: unknown) => {
        throw new NotMet((error as Error).message);
      });
      const server = await this.#connect(growing(link, engine, id, spec));
      return { server, remove: once(remove) };
    } catch (error) {
      await remove().catch(() => {});
      throw error;
    }
  }

  #connect(link: ServerLink): Promise<ForkServer> {
    const failed = (why: string): Error =>
      unavailable(
        `the fork server in the container did not start: ${why}`,
        "Try another image, such as python:3.11-slim",
      );
    return ForkServer.connect(link, { tier: "C", failed, refused: failed }, this.#stop);
  }
}

/** The container ended before it met the host. */
class NotMet extends Error {}

/** Why it has ended, when it has. Never rejects: an engine that ends leaves its containers running. */
async function whenEnded(engine: Engine, id: string): Promise<string> {
  const query = { condition: "next-exit" };
  const answer = await engine.call("POST", `/containers/${id}/wait`, { query }).catch(() => NEVER);
  const code = (answer as { readonly StatusCode?: unknown } | null)?.StatusCode;
  return code === KILLED ? "its container was killed" : `its container ended with ${String(code)}`;
}

/** Lets the engine's limit of memory grow with the workers and checkpoints in the container, up to those that a session may have. */
export function growing(
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
