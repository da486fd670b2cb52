// `rlm mcp-serve` as a client starts it, with messages on stdin and stdout.

import { spawn, type ChildProcessWithoutNullStreams } from "node:child_process";
import { existsSync } from "node:fs";
import { createInterface } from "node:readline";
import { PYTHON } from "../../open.ts";

export const CLI = new URL("../../../dist/cli.cjs", import.meta.url).pathname;
if (!existsSync(CLI)) throw new Error("dist/cli.cjs is not there: run `npm run build` first");

type Json = Readonly<Record<string, unknown>>;

export interface Message {
  readonly id?: string | number;
  readonly result?: { readonly content?: readonly { readonly text?: string }[]; readonly isError?: true };
  readonly error?: { readonly code: number; readonly message: string };
}

interface StartOptions {
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** Another Node, another copy of the program, and an ordinary user who runs them. */
  readonly as?: { readonly node: string; readonly cli: string; readonly uid: number };
}

export class MCPProgram implements AsyncDisposable {
  readonly child: ChildProcessWithoutNullStreams;
  /** Resolves with the exit code. */
  readonly exit: Promise<number | null>;
  /** Lines of standard output that are not messages. */
  readonly strange: string[] = [];
  stderr = "";
  readonly #waiting = new Map<unknown, (message: Message) => void>();
  #sent = 0;

  constructor({ args = [], env = {}, cwd, as }: StartOptions = {}) {
    this.child = spawn(as?.node ?? process.execPath, [as?.cli ?? CLI, "mcp-serve", ...args], {
      env: { ...process.env, RLM_PYTHON: PYTHON, ...env },
      cwd,
      ...(as !== undefined && { uid: as.uid, gid: as.uid }),
    });
    this.exit = new Promise((resolve) => this.child.on("close", resolve));
    this.child.stdin.on("error", () => {});
    this.child.stderr.on("data", (chunk: Buffer) => void (this.stderr += chunk.toString()));
    createInterface({ input: this.child.stdout }).on("line", (line) => this.#hear(line));
  }

  /** Initializes like a client of the legacy era. */
  static async start(options?: StartOptions): Promise<MCPProgram> {
    const program = new MCPProgram(options);
    await program.request("initialize", {
      protocolVersion: "2025-06-18",
      capabilities: {},
      clientInfo: { name: "test", version: "1" },
    });
    program.write(`${JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" })}\n`);
    return program;
  }

  async request(method: string, params: Json = {}): Promise<Message> {
    this.#sent += 1;
    const id = this.#sent;
    const reply = this.reply(id);
    this.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
    return reply;
  }

  /** The text of a tool's result. */
  async call(name: string, args: Json = {}): Promise<string> {
    const { result, error } = await this.request("tools/call", { name, arguments: args });
    return result?.content?.[0]?.text ?? JSON.stringify(error ?? result);
  }

  write(text: string): void {
    this.child.stdin.write(text);
  }

  reply(id: string | number): Promise<Message> {
    return new Promise((resolve) => this.#waiting.set(id, resolve));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.child.kill("SIGKILL");
    await this.exit;
  }

  #hear(line: string): void {
    try {
      const message = JSON.parse(line) as Message & { jsonrpc?: string };
      if (message.jsonrpc !== "2.0") this.strange.push(line);
      this.#waiting.get(message.id)?.(message);
    } catch {
      this.strange.push(line);
    }
  }
}
