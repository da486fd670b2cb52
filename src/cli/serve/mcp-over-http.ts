// `rlm mcp-serve --http`: the MCP server on a port until a signal ends it.

import { serveMCPOverHTTP } from "../../server/mcp-http.ts";
import type { PlannedFiles } from "./open-files.ts";
import { serveUntilSignal, toPlace, type AddressArguments } from "./serve-until-signal.ts";

const DEFAULT_ADDRESS = { host: "127.0.0.1", port: 8000 };
/** Long calls are tasks by then, so a request under way is a short one or one that waits. */
const DRAIN_MS = 2_000;

/** The runtime of the factory's servers is closed by whoever opened it, afterwards. Resolves with an exit code. */
export function serveMCPUntilSignal(
  factory: Parameters<typeof serveMCPOverHTTP>[0],
  address: Partial<AddressArguments>,
  { maxConnections, few }: PlannedFiles,
): Promise<number> {
  return serveUntilSignal(
    { ...DEFAULT_ADDRESS, ...address },
    {
      listen: (options) => serveMCPOverHTTP(factory, { ...options, maxConnections }),
      greet: ({ url }, token) => `listening ${url}\n${few === undefined ? "" : `${few}\n`}${toPlace(token)}\n`,
      end: (listening) => listening.close(DRAIN_MS),
    },
  );
}
