// The built program in tmux, a terminal that others wrote. Its server has its own socket and ends with the test.

import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, type TestContext } from "vitest";
import { PYTHON } from "../../open.ts";

const CLI = new URL("../../../dist/cli.cjs", import.meta.url).pathname;
const PATIENCE_MS = 60_000;

export function skipWithoutTmux(context: TestContext): void {
  const { error, status } = spawnSync("tmux", ["-V"]);
  context.skip(error !== undefined || status !== 0, "tmux is not installed: apt-get install tmux");
}

interface TmuxOptions {
  /** For the socket and the data of the program. */
  readonly folder: string;
  readonly columns?: number;
  readonly rows?: number;
}

export class Tmux implements AsyncDisposable {
  readonly #folder: string;
  readonly #pid: number;

  constructor(args: readonly string[], { folder, columns = 80, rows = 24 }: TmuxOptions) {
    this.#folder = folder;
    const program = ["env", `RLM_DATA=${folder}`, `RLM_PYTHON=${PYTHON}`, process.execPath, CLI, ...args];
    this.#run("new-session", "-d", "-x", String(columns), "-y", String(rows), ...program);
    this.#pid = Number(this.#run("display-message", "-p", "#{pane_pid}"));
  }

  /** Types text as it is. */
  type(text: string): void {
    this.#run("send-keys", "-l", text);
  }

  /** Presses keys by tmux's names: `Enter`, `Right`, `C-c`, `M-f`. */
  press(...keys: readonly string[]): void {
    this.#run("send-keys", ...keys);
  }

  /** Pastes text. Not `marked`: as a terminal without bracketed paste. */
  paste(text: string, { marked }: { readonly marked: boolean }): void {
    const file = join(this.#folder, "paste.txt");
    writeFileSync(file, text);
    this.#run("load-buffer", file);
    this.#run("paste-buffer", ...(marked ? ["-p"] : []));
  }

  /** What a user sees, without blanks at the end of lines and empty lines at the end. */
  get screen(): string {
    return this.#run("capture-pane", "-p")
      .replaceAll(/[ \t]+$/gm, "")
      .trimEnd();
  }

  /** The same with colours. */
  get colours(): string {
    return this.#run("capture-pane", "-p", "-e");
  }

  async until(pattern: RegExp): Promise<void> {
    await expect.poll(() => this.screen, { timeout: PATIENCE_MS }).toMatch(pattern);
  }

  /** Ends the server, and waits until the program has ended too. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#run("kill-server");
    await expect.poll(() => isAlive(this.#pid), { timeout: PATIENCE_MS }).toBe(false);
  }

  #run(...command: readonly string[]): string {
    const options = ["-u", "-f", "/dev/null", "-S", join(this.#folder, "tmux.sock")];
    const env = { PATH: process.env["PATH"], HOME: process.env["HOME"], LANG: "C.UTF-8" };
    const { status, stdout, stderr, error } = spawnSync("tmux", [...options, ...command], { env, encoding: "utf8" });
    if (status !== 0) throw new Error(`tmux ${command.join(" ")} failed: ${error?.message ?? stderr}`);
    return stdout;
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
