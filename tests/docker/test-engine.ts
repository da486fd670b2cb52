// The Docker engine of a test run: private, started when a test first asks for it, shared by all test files, and ended with the run. It has
// one image, built from this machine's Python.
//
// Tests run in processes of their own and ask over a unix socket, whose path they inherit. The engine ends with its standard input, so it
// also ends if the run is killed. `RLM_TEST_DOCKER_HOST` names another engine to use; the user's own is never used by accident.

import { execFile, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { promisify } from "node:util";
import { loadOrBuild } from "./image-cache.ts";
import { imagePython } from "./image-python.ts";
import type { EngineAnswer } from "./find-engine.ts";
import { remove } from "../remove.ts";

const SCRIPT = "scripts/docker-engine.mjs";
const run = promisify(execFile);

/** Runs before the test processes start. */
export default async function setUp(): Promise<(() => Promise<void>) | undefined> {
  // Each project of the configuration runs this; so does a test run inside a test.
  if (process.env["RLM_TEST_DOCKER_SOCKET"] !== undefined) return undefined;
  // Whatever a test forgets to say must not reach the user's engine.
  process.env["DOCKER_HOST"] = "unix:///nonexistent/docker.sock";
  delete process.env["DOCKER_CONTEXT"];
  const folder = mkdtempSync(join(tmpdir(), "rlm-tests-docker-"));
  process.env["DOCKER_CONFIG"] = join(folder, "config");
  const socket = join(folder, "ask.sock");
  const engine = new TestEngine();
  const server = createServer((connection) => {
    connection.on("error", () => undefined);
    void engine.answer().then((answer) => connection.end(JSON.stringify(answer)));
  });
  server.listen(socket);
  await once(server, "listening");
  process.env["RLM_TEST_DOCKER_SOCKET"] = socket;
  return async () => {
    server.close();
    await engine.close();
    remove(folder);
  };
}

/** As a user does it, with the built program. A private engine gets the result from the cache the next time. */
async function buildImage(host: string, { isPrivate }: { readonly isPrivate: boolean }): Promise<void> {
  const python = imagePython();
  const env = { ...process.env, DOCKER_HOST: host };
  const build = () => run(process.execPath, ["dist/cli.cjs", "env", "add", "docker", "--python", python], { env });
  await (isPrivate ? loadOrBuild(host, python, build) : build());
}

class TestEngine {
  #process: ChildProcess | undefined;
  #answer: Promise<EngineAnswer> | undefined;

  answer(): Promise<EngineAnswer> {
    return (this.#answer ??= this.#start().catch((error: Error) => ({ why: error.message })));
  }

  async close(): Promise<void> {
    const child = this.#process;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    child.stdin?.end();
    await once(child, "exit");
  }

  async #start(): Promise<EngineAnswer> {
    const given = process.env["RLM_TEST_DOCKER_HOST"];
    if (given) {
      await buildImage(given, { isPrivate: false });
      return { host: given };
    }
    // Ctrl-C goes to the whole group of the terminal; the engine ends after the tests, not before.
    const child = spawn(process.execPath, [SCRIPT, "run"], { stdio: ["pipe", "pipe", "pipe"], detached: true });
    this.#process = child;
    child.stdin.on("error", () => undefined);
    const problem = text(child.stderr);
    const host = await new Promise<string | undefined>((resolve) => {
      let printed = "";
      child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
        printed += chunk;
        const found = /^DOCKER_HOST=(.*)\nENGINE_PID=/m.exec(printed)?.[1];
        if (found !== undefined) resolve(found);
      });
      child.once("exit", () => resolve(undefined));
    });
    if (host === undefined) return { why: (await problem).trim() };
    await buildImage(host, { isPrivate: true });
    return { host };
  }
}
