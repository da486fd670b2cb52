// A private Docker engine with an image of the system's Python, and a container for a plain `docker exec`.
//
// The engine and all of its containers end with this process. The user's own engine is not used.

import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { lineReader, PYTHON, start, within } from "./processes.mjs";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const START_LIMIT_MS = 60_000;

/** Throws with the reason if this machine cannot have one. */
export async function openDocker() {
  const engine = start(process.execPath, ["scripts/docker-engine.mjs", "run"], { cwd: ROOT, stdio: "pipe" });
  const problem = text(engine.stderr);
  const failed = once(engine, "exit").then(async () => {
    throw new Error((await problem).trim());
  });
  failed.catch(() => {});
  const line = await within(START_LIMIT_MS, "starting an engine", Promise.race([lineReader(engine.stdout)(), failed]));
  const host = line.replace("DOCKER_HOST=", "");
  const env = { ...process.env, DOCKER_HOST: host };
  const run = (command, args) =>
    execFileSync(command, args, { cwd: ROOT, env, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] }).trim();
  const close = async () => {
    engine.stdin.end();
    if (engine.exitCode === null) await once(engine, "exit");
  };
  try {
    run(process.execPath, ["dist/cli.cjs", "env", "add", "docker", "--python", PYTHON]);
    const image = run("docker", ["images", "--format", "{{.Repository}}:{{.Tag}}", "rlm-runtime/system-python"]);
    const container = run("docker", ["run", "-d", "--init", "--network", "none", image, "sleep", "infinity"]);
    return {
      host,
      image,
      pid: engine.pid,
      /** The output of a new Python in the running container, in bytes. */
      exec: (code) => countOutput(["exec", container, "python3", "-I", "-S", "-c", code], env),
      /** The same in a new container. */
      run: (code) => countOutput(["run", "--rm", "--network", "none", image, "python3", "-I", "-S", "-c", code], env),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

async function countOutput(args, env) {
  const child = start("docker", args, { env, stdio: ["ignore", "pipe", "inherit"] });
  let bytes = 0;
  child.stdout.on("data", (chunk) => (bytes += chunk.length));
  const [code] = await within(START_LIMIT_MS, "docker", once(child, "close"));
  if (code !== 0) throw new Error(`docker ${args[0]} ended with ${code}`);
  return bytes;
}
