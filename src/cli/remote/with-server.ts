// Connects to a running server for the length of a command. Warnings and failures are lines on stderr.

import type { Runtime } from "../../api/runtime.ts";
import { connectRuntime } from "../../client/index.ts";
import { ServerConnectionError } from "../../errors.ts";
import { printError } from "../io/print-error.ts";
import { UsageError } from "../options/usage-error.ts";
import { checkOwner, findServer, refuseOtherUser, type FoundServer } from "./address.ts";

interface ServerOptions {
  /** Instead of RLM_URL. */
  readonly url?: string | undefined;
  /** How long a lost connection is tried again. Default: 15 s. */
  readonly retryMs?: number | undefined;
}

const RETRY_MS = 15_000;
/** A lost connection has several streams, each of which reports it. */
const SAME_MS = 1_000;

/** The connection ends with `use`. Throws a UsageError for a wrong address, a wrong token and wrong arguments. */
export async function withServer<Value>(
  use: (runtime: Runtime) => Promise<Value>,
  { url, retryMs: maxElapsedMs = RETRY_MS }: ServerOptions = {},
): Promise<Value> {
  const server = findServer(process.env, url);
  checkOwner(server);
  if (server.others.length > 0)
    printError(
      `${server.others.length + 1} servers run on this machine. This is the newest, ${server.url}. Set RLM_URL to use another: ${server.others.join(", ")}`,
    );
  if (server.isExposed) printError(`warning: the token goes to ${server.url} unencrypted: use https`);
  try {
    await using runtime = await connectRuntime({
      url: server.url,
      token: () => tokenFor(server),
      retry: { maxElapsedMs },
      onWarning: printOnce(),
    });
    return await use(runtime);
  } catch (error) {
    throw explain(error, server);
  }
}

/** Before each request: if the server ends meanwhile, another user can take its port. While nobody listens, nothing is sent. */
function tokenFor(server: FoundServer): string {
  refuseOtherUser(server);
  return server.token;
}

/** Adds where the address and the token came from, which the client does not know. */
function explain(error: unknown, { urlFrom, tokenFrom }: FoundServer): unknown {
  if (error instanceof RangeError) return new UsageError(error.message);
  if (!(error instanceof ServerConnectionError) || error.fault !== "configuration") return error;
  return new UsageError(`${error.message} (the address is from ${urlFrom}, the token from ${tokenFrom})`);
}

/** Prints a warning, but not the same one again at once. */
function printOnce(): (message: string) => void {
  let last = { message: "", time: 0 };
  return (message) => {
    const isSame = message === last.message && performance.now() - last.time < SAME_MS;
    last = { message, time: performance.now() };
    if (!isSame) printError(message);
  };
}
