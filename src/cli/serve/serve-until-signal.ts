// Runs a server on a port until a signal: checks who may reach it, opens the token, starts and stops it.

import type { GuardOptions } from "../../server/net/guards/guarded-app.ts";
import { isLoopback } from "../../server/net/guards/guard.ts";
import type { HTTPListener, ListenOptions } from "../../server/net/listen.ts";
import { openToken, type Token } from "../../server/net/guards/token.ts";
import { dataFolder } from "../../util/data-folder.ts";
import { printUnexpected } from "../io/print-error.ts";
import { EXIT } from "../exit-code.ts";
import { asUsageError, UsageError } from "../options/usage-error.ts";

export interface AddressArguments {
  readonly port: number;
  readonly host: string;
  readonly allowHost?: readonly string[];
}

export const DEFAULT_ADDRESS: AddressArguments = { host: "127.0.0.1", port: 8000 };

interface Service {
  listen(options: GuardOptions & Pick<ListenOptions, "host" | "port">): Promise<HTTPListener>;
  /** The text to print on stdout; not printed if a signal arrives first. */
  greet(listening: HTTPListener, token: Token): string | Promise<string>;
  /** Called after the signal and if `greet` failed. Resolves when the server has stopped. */
  end(listening: HTTPListener): Promise<void>;
}

/** Resolves with the exit code. Throws a UsageError, or what `greet` throws after it has stopped the server. */
export async function serveUntilSignal(
  { host, port, allowHost = [] }: AddressArguments,
  service: Service,
): Promise<number> {
  if (!isLoopback(host) && allowHost.length === 0) {
    throw new UsageError(
      `--host ${host} would be reachable from other machines: name the hosts that clients use with --allow-host`,
    );
  }
  const token = asUsageError(() => openToken(dataFolder("server"), process.env["RLM_TOKEN"]));
  const ended = awaitSignal();
  const guard = { token: token.value, allowedHosts: allowHost, onUnexpected: printUnexpected };
  const listening = await service.listen({ host, port, ...guard }).catch((error: unknown) => {
    throw explain(error, host, port);
  });
  try {
    const greeting = await Promise.race([service.greet(listening, token), ended]);
    if (greeting !== undefined) process.stdout.write(greeting);
    await ended;
  } finally {
    await service.end(listening);
  }
  return EXIT.ok;
}

export function describeToken({ path }: Token): string {
  return path === null ? "token from RLM_TOKEN" : `token in ${path}`;
}

/** Resolves at the first signal. The second one exits at once. */
async function awaitSignal(): Promise<undefined> {
  return new Promise((resolve) => {
    let signals = 0;
    const onSignal = (signal: "SIGINT" | "SIGTERM"): void => {
      signals += 1;
      if (signals === 1) resolve(undefined);
      else process.exit(signal === "SIGINT" ? EXIT.cancelled : EXIT.ended);
    };
    process.on("SIGINT", onSignal).on("SIGTERM", onSignal);
  });
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
