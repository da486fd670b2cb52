// Whose process listens on a port of this machine.
//
// The stored token opens every session of this user. When the user's server is gone, another user of the machine may take its port. So
// before the token is sent there, the kernel's table of sockets is asked who listens.

import { readFileSync } from "node:fs";

const LISTENING = "0A";

/** The users that listen on the port, on whatever address. Undefined: it is not known, as on other systems than Linux. */
export function usersListeningOn(port: number): readonly number[] | undefined {
  const tables = ["/proc/net/tcp", "/proc/net/tcp6"].flatMap((path) => readTable(path) ?? []);
  if (tables.length === 0) return undefined;
  const wanted = port.toString(16).toUpperCase().padStart(4, "0");
  const users = tables
    .flatMap((table) => table.split("\n").slice(1))
    .map((line) => line.trim().split(/\s+/))
    .filter(([, local, , state]) => state === LISTENING && local?.endsWith(`:${wanted}`))
    .map((fields) => Number(fields[7]));
  return [...new Set(users)];
}

function readTable(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}
