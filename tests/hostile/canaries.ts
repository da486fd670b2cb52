// Real targets on the host: files, sockets, environment variables, processes.
//
// File permissions are open on purpose. The sandbox must stop a probe, not the accident that the canary
// belongs to somebody else; `run-unsandboxed.py` shows that the same code succeeds outside.

import { spawn, type ChildProcess } from "node:child_process";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { randomUUID } from "node:crypto";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type AddressInfo, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { python } from "./machine.ts";

export interface Canaries extends AsyncDisposable {
  /** Values for the placeholders in probes. */
  readonly values: Readonly<Record<string, string>>;
  /** A world-writable folder of the host. */
  readonly scratch: string;
  /** The number of packets that the UDP socket received. */
  readonly packets: () => number;
}

const ENVIRONMENT = ["CANARY_TOKEN", "AWS_SECRET_ACCESS_KEY", "OPENAI_API_KEY"];

export async function openCanaries(): Promise<Canaries> {
  const scratch = mkdtempSync(join(tmpdir(), "hostile-"));
  chmodSync(scratch, 0o777);
  const home = join(scratch, "home");
  for (const folder of ["home", "home/.ssh", "home/project", "open"]) mkdirSync(join(scratch, folder));
  for (const [file, text] of [
    [".ssh/id_rsa", "CANARY-SSH"],
    ["project/.env", "SECRET=CANARY-DOTENV"],
    [".bashrc", "# CANARY-BASHRC"],
  ] as const) {
    writeFileSync(join(home, file), text);
  }
  openPermissions(scratch);
  for (const name of ENVIRONMENT) process.env[name] = `CANARY-ENV-${name}`;

  const abstract = `hostile-${randomUUID()}`;
  const tcp = await listen("CANARY-TCP", { port: 0, host: "127.0.0.1" });
  const { port } = tcp.address() as AddressInfo;
  const tcp6 = await listen("CANARY-TCP", { port, host: "::1" }).catch(() => undefined); // no IPv6 on this machine
  const path = await listen("CANARY-UNIX", { path: join(scratch, "path.sock") });
  const docker = await listen("CANARY-DOCKER", { path: join(scratch, "docker.sock") });
  for (const name of ["path.sock", "docker.sock"]) chmodSync(join(scratch, name), 0o777);
  let packets = 0;
  const udp = createSocket("udp4", () => (packets += 1)).bind(0, "127.0.0.1");
  await once(udp, "listening");
  const helper = await startHelper(abstract);

  return {
    scratch,
    packets: () => packets,
    values: {
      HOME: home,
      PORT: String(port),
      UDPPORT: String(udp.address().port),
      ABSTRACT: abstract,
      UNIXPATH: join(scratch, "path.sock"),
      DOCKERSOCK: join(scratch, "docker.sock"),
      HOSTPID: String(process.pid),
      HOSTCANARY: join(scratch, "open", "never", "made"),
      RUNTIMEDIR: join(import.meta.dirname, "../../python/worker"),
    },
    async [Symbol.asyncDispose]() {
      for (const name of ENVIRONMENT) Reflect.deleteProperty(process.env, name);
      for (const server of [tcp, tcp6, path, docker]) server?.close();
      udp.close();
      const ended = once(helper, "exit");
      helper.stdin?.end();
      if (helper.exitCode === null) await ended;
      rmSync(scratch, { recursive: true });
    },
  };
}

function openPermissions(scratch: string): void {
  for (const folder of ["home", "home/.ssh", "home/project", "open"]) chmodSync(join(scratch, folder), 0o777);
  for (const file of [".ssh/id_rsa", "project/.env", ".bashrc"]) chmodSync(join(scratch, "home", file), 0o666);
}

async function listen(text: string, where: { port: number; host: string } | { path: string }): Promise<Server> {
  const server = createServer((socket) => {
    socket.on("error", () => {});
    socket.end(text);
  });
  server.listen(where);
  await once(server, "listening");
  return server;
}

async function startHelper(abstract: string): Promise<ChildProcess> {
  const script = join(import.meta.dirname, "../fixtures/canary-sockets.py");
  const helper = spawn(python, ["-I", script, abstract, "CANARY-CMDLINE"], { stdio: ["pipe", "pipe", "inherit"] });
  await once(helper.stdout, "data");
  return helper;
}
