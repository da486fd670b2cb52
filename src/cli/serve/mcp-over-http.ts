// `rlm mcp-serve --http`: serves MCP on a port until a signal.

import { serveMCPOverHTTP } from "../../server/mcp-http.ts";
import type { PlannedFiles } from "./open-files.ts";
import { DEFAULT_ADDRESS, serveUntilSignal, describeToken, type AddressArguments } from "./serve-until-signal.ts";

/** Short, because long calls have become tasks: open requests are brief or only wait. */
const DRAIN_MS = 2_000;

/** Does not close the runtime of the factory. Resolves with the exit code. */
export function serveMCPUntilSignal(
  factory: Parameters<typeof serveMCPOverHTTP>[0],
  address: Partial<AddressArguments>,
  { maxConnections, warning }: PlannedFiles,
): Promise<number> {
  return serveUntilSignal(
    { ...DEFAULT_ADDRESS, ...address },
    {
      listen: (options) => serveMCPOverHTTP(factory, { ...options, maxConnections }),
      greet: ({ url }, token) =>
        `listening ${url}\n${warning === undefined ? "" : `${warning}\n`}${describeToken(token)}\n`,
      end: (listening) => listening.close(DRAIN_MS),
    },
  );
}
