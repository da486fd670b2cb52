// Runs the commands of a console block in one shell, in a project of its own, and compares what they print with what the block says.
//
// A line that starts with "$ " is a command, and "> " continues it. The lines after it are its output, in which "…" stands for anything
// in a line, and a line of "…" alone for any number of lines. A command that serves runs on in the background, as in another terminal.

import { spawn } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { makeDataFolder } from "../make-data-folder.ts";
import { PYTHON } from "../open.ts";
import { remove } from "../remove.ts";

export interface Step {
  readonly command: string;
  readonly output: string;
}

const SERVES = /(?:^|\s)rlm (?:serve|mcp-serve --http)\b/;
/** The address that documents show. A block gets a free port instead. */
const PORT = /(?<=127\.0\.0\.1:|localhost:|--port |--port=)8000\b/g;
/** Ends the output of a command. */
const MARK = "\u001E";
/** A server that has not printed what is expected by then never will. */
const START_LIMIT_MS = 60_000;

export function parseSteps(text: string): Step[] {
  const steps: { command: string; output: string }[] = [];
  for (const line of text.trimEnd().split("\n")) {
    const last = steps.at(-1);
    if (line.startsWith("$ ")) steps.push({ command: line.slice(2), output: "" });
    else if (last === undefined) throw new Error(`A console block starts with "$ ", this one with: ${line}`);
    else if (line.startsWith("> ") && last.output === "") last.command += `\n${line.slice(2)}`;
    else last.output += `${line}\n`;
  }
  return steps;
}

/** What a step is documented to print, as a pattern for what it printed. */
export function toPattern(output: string): RegExp {
  const lines = output
    .trimEnd()
    .split("\n")
    .map((line) => {
      const pattern = line.trimEnd().split("…").map(escape).join(".*");
      return line.trim() === "…" ? "(?:.*\\n)*" : `${pattern}[^\\S\\n]*\\n`;
    });
  return new RegExp(`^${output.trim() === "" ? "" : lines.join("")}$`);
}

/** What the steps print, each with what the document says; the same text where that fits. `setup`: shell code that runs first. */
export async function runSteps(
  steps: readonly Step[],
  setup = "",
): Promise<{ command: string; expected: string; printed: string }[]> {
  const folder = mkdtempSync(join(tmpdir(), "rlm-console-"));
  const port = await freePort();
  await using shell = new Shell(folder, port);
  for (const line of setup.split(/^(.*\brlm serve\b.*)$/m))
    await (SERVES.test(line) ? shell.serve(line, /^listening /) : shell.run(line));
  const results = [];
  for (const step of steps) {
    const command = step.command.replaceAll(PORT, String(port));
    const output = step.output.replaceAll(PORT, String(port));
    const pattern = toPattern(output);
    const text = SERVES.test(command) ? await shell.serve(command, pattern) : await shell.run(command);
    const printed = text.replace(/[^\n]$/, "$&\n");
    results.push({ command, printed, expected: pattern.test(printed) ? printed : output });
  }
  return results;
}

/** One bash with a project folder, a data folder and the built program. */
class Shell implements AsyncDisposable {
  readonly #folder: string;
  readonly #port: number;
  readonly #bash;
  readonly #ended: Promise<void>;
  #printed = "";
  #isEnded = false;
  #wake = (): void => {};

  constructor(folder: string, port: number) {
    this.#folder = folder;
    this.#port = port;
    for (const name of ["bin", "home", "project"]) mkdirSync(join(folder, name));
    makeDataFolder(join(folder, "home/.local/share/rlm"));
    const program = join(folder, "bin/rlm");
    writeFileSync(program, `#!/bin/sh\nexec '${process.execPath}' '${resolve("dist/cli.cjs")}' "$@"\n`);
    chmodSync(program, 0o755);
    const env = {
      PATH: `${join(folder, "bin")}:${process.env["PATH"]}`,
      HOME: join(folder, "home"),
      RLM_URL: `http://127.0.0.1:${port}`,
      RLM_PYTHON: PYTHON,
      RLM_PRELOAD: "none",
      NO_COLOR: "1",
      LANG: "C.UTF-8",
      TZ: "UTC",
    };
    // A process group, so that what runs in the background ends with it.
    this.#bash = spawn("bash", [], {
      cwd: join(folder, "project"),
      env,
      stdio: ["pipe", "pipe", "inherit"],
      detached: true,
    });
    this.#bash.stdout.setEncoding("utf8").on("data", (text: string) => this.#add(text));
    this.#ended = new Promise((done) => {
      this.#bash.on("close", () => {
        this.#isEnded = true;
        this.#wake();
        done();
      });
    });
  }

  /** What a command prints until it ends, on both streams. */
  async run(command: string): Promise<string> {
    this.#write(`{ :\n${command}\n} 2>&1 </dev/null\nprintf '${MARK}'\n`);
    await this.#until(() => this.#printed.includes(MARK));
    const printed = this.#printed.slice(0, this.#printed.indexOf(MARK));
    this.#printed = this.#printed.slice(printed.length + MARK.length);
    return printed;
  }

  /** What a command that does not end prints until that is what is expected, or for as long as a start may take. */
  async serve(command: string, expected: RegExp): Promise<string> {
    const port = command.includes("--port") ? "" : ` --port ${this.#port}`;
    this.#write(`{ { :\n${command.replace(/\s*&?\s*$/, "")}${port}\n} 2>/dev/null </dev/null; printf '${MARK}'; } &\n`);
    const limit = setTimeout(() => this.#add(MARK), START_LIMIT_MS);
    await this.#until(() => expected.test(this.#printed) || this.#printed.includes(MARK));
    clearTimeout(limit);
    const printed = this.#printed;
    this.#printed = "";
    return printed;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#isEnded && this.#bash.pid !== undefined) process.kill(-this.#bash.pid, "SIGTERM");
    await this.#ended;
    remove(this.#folder);
  }

  #add(text: string): void {
    this.#printed += text;
    this.#wake();
  }

  #write(text: string): void {
    this.#bash.stdin.write(text);
  }

  async #until(isDone: () => boolean): Promise<void> {
    while (!isDone()) {
      if (this.#isEnded) throw new Error(`the shell ended: ${this.#printed}`);
      await new Promise<void>((wake) => (this.#wake = wake));
    }
  }
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const { port } = server.address() as AddressInfo;
  await new Promise((done) => server.close(done));
  return port;
}

function escape(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|]/g, "\\$&");
}
