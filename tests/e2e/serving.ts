// The built `rlm serve` with its own data folder, and commands that use it.

import { makeDataFolder } from "../make-data-folder.ts";
import { rlm, start, type Ended, type Program } from "./program.ts";
import { remove } from "../remove.ts";

export interface Serving extends AsyncDisposable {
  readonly url: string;
  readonly token: string;
  readonly program: Program;
  /** The environment of a client: RLM_URL and RLM_TOKEN. */
  readonly env: Readonly<Record<string, string>>;
  rlm(args: readonly string[], options?: { readonly stdin?: string | Buffer }): Promise<Ended>;
}

export async function startServing(args: readonly string[] = [], more: Record<string, string> = {}): Promise<Serving> {
  const data = makeDataFolder();
  const token = "e2e-token";
  const program = start(["serve", "--port", "0", ...args], {
    cwd: data,
    env: { RLM_DATA: data, RLM_TOKEN: token, ...more },
  });
  const [, url = ""] = await program.until(/^listening (http:\S+)\n[\s\S]*token .*\n/);
  const env = { RLM_DATA: data, RLM_URL: url, RLM_TOKEN: token, TZ: "UTC" };
  return {
    url,
    token,
    program,
    env,
    rlm: (words, options) => rlm(words, { ...options, env }),
    [Symbol.asyncDispose]: async () => {
      await program[Symbol.asyncDispose]();
      remove(data);
    },
  };
}
