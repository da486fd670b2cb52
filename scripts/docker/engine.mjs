// One dockerd in a process namespace and a mount namespace of its own. Whatever ends this process ends the namespaces, and with them the
// engine, its containers and their mounts.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, closeSync, existsSync, mkdtempSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { PREFIX, endEngine, identify, record } from "./leftovers.mjs";

const START_LIMIT_MS = 120_000;
const LOG_LINES = 3;
/** Folders that dockerd makes wherever its data is. */
const SYSTEM_FOLDERS = ["/run/docker/plugins", "/run/docker"];
/** Best first. The second needs nothing of the file system, and copies each layer. */
const STORAGE_DRIVERS = ["overlay2", "vfs"];
/** The path of a unix socket has at most this many bytes, and containerd's is the longest. */
const LONGEST_FOLDER = 60;

/** Arguments of `unshare`. Mounts of the machine appear inside, and none of those made inside appear outside. */
export const NAMESPACES = ["--mount", "--pid", "--fork", "--kill-child", "--mount-proc", "--propagation", "slave"];

/** The namespaces without dockerd. `isDetached`: it outlives whoever started it. */
export async function openEngine({ isDetached }) {
  const folder = mkdtempSync(join(tmpdir(), PREFIX));
  const madeFolders = SYSTEM_FOLDERS.filter((name) => !existsSync(name));
  record(folder, { isDetached, init: null, madeFolders });
  try {
    if (folder.length > LONGEST_FOLDER)
      throw new Error(`'${tmpdir()}' is too long for the sockets of an engine: set TMPDIR to a shorter one`);
    // Users other than root get as far as the socket, which refuses them, as on any machine.
    chmodSync(folder, 0o711);
    writeFileSync(join(folder, "daemon.json"), "{}");
    const holder = await openNamespaces();
    const init = identify(childOf(holder.pid));
    record(folder, { isDetached, init, madeFolders });
    return new Engine(folder, { init, madeFolders, holder });
  } catch (error) {
    await endEngine(folder, { init: null, madeFolders });
    throw error;
  }
}

async function openNamespaces() {
  // Its standard input ends with this process. Then `cat` ends, process 1 after it, and with that the namespaces.
  const holder = spawn("unshare", [...NAMESPACES, "docker-init", "--", "cat"], {
    // It complains when it is killed, which is how it ends.
    stdio: ["pipe", "pipe", "ignore"],
    detached: true,
  });
  holder.stdin.on("error", () => undefined);
  // `cat` answers when everything around it is there.
  holder.stdin.write("ready\n");
  const answered = await Promise.race([once(holder.stdout, "data"), once(holder, "exit").then(() => undefined)]);
  if (answered === undefined) throw new Error("the namespaces of the engine cannot be made");
  return holder;
}

function childOf(pid) {
  return Number(readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ")[0]);
}

class Engine {
  #folder;
  #parts;
  #daemon;
  #driver = STORAGE_DRIVERS[0];
  #isClosing = false;

  constructor(folder, parts) {
    this.#folder = folder;
    this.#parts = parts;
  }

  /** Of dockerd, as this process sees it. */
  get pid() {
    return childOf(this.#daemon.pid);
  }

  /** The address, once it answers. A storage driver that does not work here is followed by the next. */
  async start() {
    for (const driver of STORAGE_DRIVERS.slice(STORAGE_DRIVERS.indexOf(this.#driver))) {
      this.#driver = driver;
      if (await this.#tryStart()) return `unix://${this.#socket}`;
      if (!this.#log().includes(`driver not supported`) && !this.#log().includes("failed to mount overlay")) break;
    }
    const lines = this.#log().trim().split("\n").slice(-LOG_LINES);
    throw new Error(`dockerd does not start:\n${lines.join("\n")}`);
  }

  restartOn(lines) {
    lines.on("line", (line) => {
      if (line.trim() !== "restart") return;
      this.start().then(
        (host) => process.stdout.write(`DOCKER_HOST=${host}\nENGINE_PID=${this.pid}\n`),
        (error) => process.stderr.write(`docker-engine: ${error.message}\n`),
      );
    });
  }

  async close() {
    this.#isClosing = true;
    await endEngine(this.#folder, this.#parts);
    this.#parts.holder.stdin.destroy();
  }

  get #socket() {
    return join(this.#folder, "docker.sock");
  }

  #log() {
    return readFileSync(join(this.#folder, "log"), "utf8");
  }

  /** False: dockerd ended before it answered. */
  async #tryStart() {
    const log = openSync(join(this.#folder, "log"), "w");
    const inside = ["--target", String(this.#parts.init.pid), "--mount", "--pid"];
    const daemon = spawn("nsenter", [...inside, "dockerd", ...this.#options()], {
      stdio: ["ignore", log, log],
      env: { PATH: process.env.PATH, HOME: this.#folder },
      detached: true,
    });
    closeSync(log);
    this.#daemon = daemon;
    const ended = { isOver: false };
    daemon.once("exit", (code, signal) => {
      ended.isOver = true;
      if (!this.#isClosing) process.stderr.write(`docker-engine: dockerd ended: ${signal ?? `exit code ${code}`}\n`);
    });
    for (const until = Date.now() + START_LIMIT_MS; !ended.isOver; await sleep(20)) {
      if (await answers(this.#socket)) return true;
      if (Date.now() > until) throw new Error(`dockerd does not answer within ${START_LIMIT_MS / 1000} s`);
    }
    return false;
  }

  #options() {
    const at = (name) => join(this.#folder, name);
    return [
      "--config-file",
      at("daemon.json"),
      "--host",
      `unix://${this.#socket}`,
      "--group",
      "0",
      "--data-root",
      at("data"),
      "--exec-root",
      at("exec"),
      "--pidfile",
      at("pid"),
      "--storage-driver",
      this.#driver,
      // Its cgroups can be found and removed, also where systemd has others.
      "--exec-opt",
      "native.cgroupdriver=cgroupfs",
      "--cgroup-parent",
      `/${basename(this.#folder)}`,
      "--iptables=false",
      "--ip6tables=false",
      "--bridge=none",
      // A registry that fails in a test fails at once, not after a minute of waits.
      "--max-download-attempts",
      "1",
    ];
  }
}

function answers(socketPath) {
  return new Promise((resolve) => {
    const ping = request({ socketPath, path: "/_ping", timeout: 5_000 }, (response) => {
      response.resume().once("end", () => resolve(response.statusCode === 200));
    });
    ping.once("error", () => resolve(false)).once("timeout", () => ping.destroy(new Error("no answer")));
    ping.end();
  });
}
