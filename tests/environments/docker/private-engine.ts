// A Docker engine of one test file alone, whose dockerd can be killed and started again.

import { spawn, type ChildProcessWithoutNullStreams } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { findAddress } from "../../../src/environments/docker/engine/address.ts";
import { Engine } from "../../../src/environments/docker/engine/engine.ts";

interface Listed {
  readonly Id: string;
  readonly Labels: Readonly<Record<string, string>>;
}

export class PrivateEngine {
  readonly host: string;
  readonly #keeper: ChildProcessWithoutNullStreams;
  readonly #lines: AsyncIterator<string>;
  #pid: number;

  private constructor(
    keeper: ChildProcessWithoutNullStreams,
    lines: AsyncIterator<string>,
    started: { readonly host: string; readonly pid: number },
  ) {
    this.#keeper = keeper;
    this.#lines = lines;
    this.host = started.host;
    this.#pid = started.pid;
  }

  static async open(): Promise<PrivateEngine> {
    const keeper = spawn(process.execPath, ["scripts/docker-engine.mjs", "run"], { detached: true });
    keeper.stdin.on("error", () => undefined);
    const lines = createInterface({ input: keeper.stdout })[Symbol.asyncIterator]();
    return new PrivateEngine(keeper, lines, await readStart(lines));
  }

  /** Kills dockerd. Resolves when it is gone. */
  async kill(): Promise<void> {
    const said = once(this.#keeper.stderr, "data");
    process.kill(this.#pid, "SIGKILL");
    await said;
  }

  async restart(): Promise<void> {
    this.#keeper.stdin.write("restart\n");
    this.#pid = (await readStart(this.#lines)).pid;
  }

  /** The ids of our containers. */
  async containers(kind?: "session" | "build"): Promise<string[]> {
    const filters = JSON.stringify({ label: [`dev.rlm-runtime.kind${kind === undefined ? "" : `=${kind}`}`] });
    const found = (await this.call("GET", "/containers/json", { all: true, filters })) as readonly Listed[];
    return found.map(({ Id }) => Id);
  }

  async call(method: string, path: string, query: Readonly<Record<string, string | boolean>> = {}): Promise<unknown> {
    const engine = new Engine(findAddress(this.host));
    try {
      return await engine.call(method, path, { query });
    } finally {
      engine.close();
    }
  }

  async close(): Promise<void> {
    const ended = once(this.#keeper, "exit");
    this.#keeper.stdin.end();
    await ended;
  }
}

async function readStart(lines: AsyncIterator<string>): Promise<{ readonly host: string; readonly pid: number }> {
  const host = String((await lines.next()).value).replace("DOCKER_HOST=", "");
  const pid = Number(String((await lines.next()).value).replace("ENGINE_PID=", ""));
  if (!(pid > 0)) throw new Error("the private engine did not start");
  return { host, pid };
}

/** The process ids on this machine of the processes in a container. */
export function processesOf(container: string): number[] {
  return readdirSync("/proc").flatMap((name) =>
    /^\d+$/.test(name) && read(name, "cgroup").includes(container) ? [Number(name)] : [],
  );
}

/** Process 1 of a container, as this machine numbers it. */
export function firstProcessOf(container: string): number {
  const found = processesOf(container).find((pid) => /^NSpid:.*\t1$/m.test(read(String(pid), "status")));
  if (found === undefined) throw new Error(`container ${container} has no process 1`);
  return found;
}

function read(pid: string, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "utf8");
  } catch {
    return ""; // it has ended meanwhile
  }
}
