// `rlm serve`: the runtime over HTTP until a signal ends it.

import { createApp } from "../server/http/app.ts";
import { isLoopback } from "../server/http/guard.ts";
import { listen, type Listening } from "../server/http/serve.ts";
import { openToken, type Token } from "../server/token.ts";
import { openRuntime, type Runtime } from "../runtime.ts";
import { dataFolder } from "../util/data-folder.ts";
import { complain } from "./complain.ts";
import { EXIT } from "./exit-code.ts";
import { UsageError } from "./usage-error.ts";

export interface ServeArguments {
  readonly port: number;
  readonly host: string;
  readonly allowHost?: readonly string[];
}

const DRAIN_MS = 10_000;

export async function serve({ port, host, allowHost = [] }: ServeArguments): Promise<number> {
  if (!isLoopback(host) && allowHost.length === 0) {
    throw new UsageError(
      `--host ${host} would be reachable from other machines: name the hosts that clients use with --allow-host`,
    );
  }
  const token = readToken();
  await using runtime = await openRuntime();
  const ended = awaitSignal();
  const app = createApp(runtime, { token: token.value, allowedHosts: allowHost, onUnexpected: logUnexpected });
  const listening = await listen(app, { host, port }).catch((error: unknown) => {
    throw explain(error, host, port);
  });
  try {
    const isReady = await Promise.race([prove(runtime).then(() => true), ended.then(() => false)]);
    if (isReady) process.stdout.write(greeting(runtime, listening, token));
    await ended;
  } finally {
    await listening.close(DRAIN_MS);
  }
  return EXIT.ok;
}

/** Opens a session and closes it: what stands in the way of every session is told now, and not to the first client. */
async function prove(runtime: Runtime): Promise<void> {
  await runtime.warm();
  const session = await runtime.openSession();
  await session.close();
}

function greeting(runtime: Runtime, { url }: Listening, { value, path }: Token): string {
  const { name, tier, python } = runtime.report();
  const header = quote(`Authorization: Bearer ${value}`);
  return [
    `listening ${url}`,
    `curl -s ${url}/process/interpreter/execute -H ${header} -d '{"code":"print(6*7)"}'`,
    `environment ${name}, sandbox tier ${tier ?? "unknown"}, Python ${python?.version ?? "unknown"}`,
    path === null ? "token from RLM_TOKEN" : `token in ${path}`,
    "",
  ].join("\n");
}

/** The first signal begins the end; the second one is the end. */
async function awaitSignal(): Promise<void> {
  await new Promise<void>((resolve) => {
    let signals = 0;
    const hear = (signal: "SIGINT" | "SIGTERM"): void => {
      signals += 1;
      if (signals === 1) resolve();
      else process.exit(signal === "SIGINT" ? EXIT.cancelled : EXIT.ended);
    };
    process.on("SIGINT", hear).on("SIGTERM", hear);
  });
}

function readToken(): Token {
  try {
    return openToken(dataFolder("server"), process.env["RLM_TOKEN"]);
  } catch (error) {
    if (error instanceof RangeError) throw new UsageError(error.message);
    throw error;
  }
}

function explain(error: unknown, host: string, port: number): Error {
  const { code, message } = error as NodeJS.ErrnoException;
  const cannot = `cannot listen on ${host} port ${port}`;
  if (code === "EADDRINUSE") return new Error(`${cannot}: it is taken. Use another with --port, or any with --port 0`);
  if (code === "EACCES") return new Error(`${cannot}: ports below 1024 need privileges. Use another with --port`);
  if (code === "EADDRNOTAVAIL" || code === "ENOTFOUND")
    return new UsageError(`${cannot}: this machine has no such address`);
  return new Error(`${cannot}: ${message}`);
}

function logUnexpected(error: unknown): void {
  complain(error instanceof Error ? (error.stack ?? error.message) : String(error));
}

/** For a shell. */
function quote(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
