// The built `rlm serve` with its own data folder, and commands that use it.

import { makeDataFolder } from "../make-data-folder.ts";
import { rlm, start, type Ended, type Program } from "./program.ts";
import { remove } from "../remove.ts";

export interface Serving extends AsyncDisposable {
  readonly url: string;
  readonly token: string;
  /** The current one. */
  readonly program: Program;
  /** The environment of a client: RLM_URL and RLM_TOKEN. */
  readonly env: Readonly<Record<string, string>>;
  rlm(args: readonly string[], options?: { readonly stdin?: string | Buffer }): Promise<Ended>;
  /** Kills the server, and starts another one with the same address and data. */
  restart(): Promise<void>;
}

export async function startServing(args: readonly string[] = [], more: Record<string, string> = {}): Promise<Serving> {
  const data = makeDataFolder();
  const token = "e2e-token";
  const serve = async (port: string): Promise<{ readonly program: Program; readonly url: string }> => {
    const program = start(["serve", "--port", port, ...args], {
      cwd: data,
      env: { RLM_DATA: data, RLM_TOKEN: token, ...more },
    });
    const [, url = ""] = await program.until(/^listening (http:\S+)\n[\s\S]*token .*\n/);
    return { program, url };
  };
  const first = await serve("0");
  const { url } = first;
  let { program } = first;
  const env = { RLM_DATA: data, RLM_URL: url, RLM_TOKEN: token, TZ: "UTC" };
  return {
    url,
    token,
    env,
    get program() {
      return program;
    },
    rlm: (words, options) => rlm(words, { ...options, env }),
    restart: async () => {
      await program[Symbol.asyncDispose]();
      ({ program } = await serve(new URL(url).port));
    },
    [Symbol.asyncDispose]: async () => {
      await program[Symbol.asyncDispose]();
      remove(data);
    },
  };
}
