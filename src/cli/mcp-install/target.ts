// The target of an installation: a client, its file and the name of the entry.

import { existsSync, mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { UsageError } from "../options/usage-error.ts";
import { CLIENTS, CLIENT_NAMES, isClientName, paths, type Client, type Machine, type Scope } from "./clients.ts";
import type { EntryPath } from "./config-text.ts";

export interface Target {
  readonly client: Client;
  readonly scope: Scope;
  readonly path: string;
  readonly entryPath: EntryPath;
  /** Why the client seems not to be installed; undefined if it is, or if that does not matter. */
  readonly absence: string | undefined;
}

interface InstallRequest {
  readonly client: string;
  readonly name: string;
  readonly scope: Scope;
}

/** Names that every client accepts. */
const NAME = /^[A-Za-z][A-Za-z0-9_-]{0,63}$/;

export function toTarget({ client: clientName, name, scope }: InstallRequest, machine: Machine): Target {
  if (!isClientName(clientName))
    throw new UsageError(`There is no client '${clientName}': choose ${CLIENT_NAMES.join(", ")}`);
  if (!NAME.test(name))
    throw new UsageError("--name: It must be a letter, then letters, digits, '-' and '_', at most 64 together");
  const client = CLIENTS[clientName];
  const entryPath = { servers: client.servers, name };
  if (scope === "user") {
    const { file, signs } = client.user(machine);
    const isInstalled = signs.some((sign) => existsSync(sign));
    const absence = `${client.title} does not seem to be installed: no folder ${signs.at(-1)}`;
    return { client, scope, path: file, entryPath, absence: isInstalled ? undefined : absence };
  }
  if (client.project === undefined)
    throw new UsageError(`There is no configuration of a project for ${client.title}: leave out '--scope project'`);
  const path = paths(machine).join(machine.cwd, client.project);
  return { client, scope, path, entryPath, absence: undefined };
}

/** Creates the client's folder in the project. */
export function makeProjectFolder({ path, scope }: Target): void {
  const folder = dirname(path);
  if (scope === "project" && !existsSync(folder)) mkdirSync(folder);
}
