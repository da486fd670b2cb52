// A server of the installed package on loopback, for clients that are tried against it.

import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";

/** `folder`: where the package is installed. `args`: further arguments of `rlm serve`. Resolves when it listens. */
export async function startServer(folder, args = []) {
  const token = randomBytes(16).toString("hex");
  const data = join(folder, "data");
  mkdirSync(data, { recursive: true });
  const program = spawn(
    process.execPath,
    [join(folder, "node_modules/rlm-runtime/dist/cli.cjs"), "serve", "--port", "0", "--log-format", "json", ...args],
    { cwd: folder, env: { ...process.env, RLM_TOKEN: token, RLM_DATA: data }, stdio: ["ignore", "pipe", "pipe"] },
  );
  const ended = new Promise((resolve) => {
    program.once("exit", resolve);
  });
  let printed = "";
  const url = await new Promise((resolve, reject) => {
    for (const stream of [program.stdout, program.stderr]) {
      createInterface({ input: stream }).on("line", (line) => {
        printed += `${line}\n`;
        const found = /http:\/\/127\.0\.0\.1:\d+/.exec(line)?.[0];
        if (found !== undefined) resolve(found);
      });
    }
    void ended.then(() => reject(new Error(`rlm serve ended before it listened:\n${printed}`)));
  });
  const close = async () => {
    program.kill("SIGTERM");
    await ended;
  };
  return { url, token, close };
}
