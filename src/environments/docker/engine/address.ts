// Where the Docker engine is: the setting, DOCKER_HOST, the context of the `docker` command, else the usual sockets.

import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { homeFolder } from "../../../util/home-folder.ts";
import { parseJSON } from "../../../util/parse-json.ts";
import { noEngine, unavailable } from "./errors.ts";

/** How requests reach an engine. */
export interface EngineAddress {
  /** As people write it. */
  readonly text: string;
  readonly target:
    | { readonly socketPath: string }
    | { readonly host: string; readonly port: number; readonly tls: TLSFiles | null };
}

interface TLSFiles {
  readonly ca?: Buffer;
  readonly cert?: Buffer;
  readonly key?: Buffer;
}

const PLAIN_PORT = 2375;
const TLS_PORT = 2376;
const IN_TLS_FOLDER = { ca: "ca.pem", cert: "cert.pem", key: "key.pem" };

/** Throws EnvironmentUnavailableError where no engine can be found. */
export function findAddress(setting: string | undefined, env: NodeJS.ProcessEnv = process.env): EngineAddress {
  const named = setting ?? (env["DOCKER_HOST"] || undefined);
  if (named !== undefined) return toAddress(named, env["DOCKER_CERT_PATH"] || undefined);
  const context = findContext(env);
  if (context !== undefined) return context;
  const found = usualSockets(env).find((path) => existsSync(path));
  if (found === undefined) throw noEngine(`there is no Docker engine on this machine: none of its sockets exists`);
  return toAddress(`unix://${found}`);
}

function usualSockets(env: NodeJS.ProcessEnv): readonly string[] {
  const run = env["XDG_RUNTIME_DIR"];
  return [
    "/var/run/docker.sock",
    ...(run ? [join(run, "docker.sock")] : []),
    join(homeFolder(), ".docker/run/docker.sock"),
    join(homeFolder(), ".docker/desktop/docker.sock"),
  ];
}

function toAddress(text: string, tlsFolder?: string): EngineAddress {
  const match = /^(?<scheme>[a-z]+):\/\/(?<rest>.*)$/.exec(text);
  const { scheme, rest = "" } = match?.groups ?? {};
  if (scheme === "unix" && rest.startsWith("/")) return { text, target: { socketPath: rest } };
  if (scheme === "npipe") return { text, target: { socketPath: rest.replaceAll("/", "\\") } };
  if (scheme === "ssh") {
    const fix = `Forward its socket, ssh -NL /tmp/docker.sock:/var/run/docker.sock ${rest}, and set DOCKER_HOST=unix:///tmp/docker.sock`;
    throw unavailable(`engines over SSH (${text}) are not supported`, fix);
  }
  const url = scheme === "tcp" || scheme === "http" || scheme === "https" ? parseHost(rest) : undefined;
  if (url === undefined) {
    throw unavailable(
      `${JSON.stringify(text)} is not a valid engine address`,
      "Use one like unix:///var/run/docker.sock or tcp://HOST:2376",
    );
  }
  const isTLS = scheme === "https" || (scheme === "tcp" && tlsFolder !== undefined);
  const tls = isTLS ? readTLS(tlsFolder) : null;
  return { text, target: { host: url.hostname.replaceAll(/[[\]]/g, ""), port: portOf(url, isTLS), tls } };
}

function portOf(url: URL, isTLS: boolean): number {
  return url.port === "" ? (isTLS ? TLS_PORT : PLAIN_PORT) : Number(url.port);
}

function parseHost(rest: string): URL | undefined {
  // A scheme that has no default port, so that any port is kept.
  return rest !== "" && URL.canParse(`tcp://${rest}`) ? new URL(`tcp://${rest}`) : undefined;
}

function readTLS(folder: string | undefined): TLSFiles {
  if (folder === undefined) return {};
  const read = (name: string): Buffer | undefined => {
    const path = join(folder, name);
    return existsSync(path) ? readFileSync(path) : undefined;
  };
  const files = Object.entries(IN_TLS_FOLDER).map(([key, name]) => [key, read(name)] as const);
  return Object.fromEntries(files.filter(([, content]) => content !== undefined));
}

interface ContextFile {
  readonly Endpoints?: { readonly docker?: { readonly Host?: string } };
}

/** The context that the `docker` command uses. Undefined: it uses the default one. */
function findContext(env: NodeJS.ProcessEnv): EngineAddress | undefined {
  const folder = env["DOCKER_CONFIG"] || join(homeFolder(), ".docker");
  const settings = readJson(join(folder, "config.json")) as { readonly currentContext?: unknown } | undefined;
  const name = env["DOCKER_CONTEXT"] || settings?.currentContext;
  if (typeof name !== "string" || name === "" || name === "default") return undefined;
  const id = createHash("sha256").update(name).digest("hex");
  const context = readJson(join(folder, "contexts/meta", id, "meta.json")) as ContextFile | undefined;
  const host = context?.Endpoints?.docker?.Host;
  if (typeof host !== "string") {
    throw unavailable(
      `the Docker context '${name}' cannot be read`,
      `Choose another with 'docker context use', or set DOCKER_HOST`,
    );
  }
  const tlsFolder = join(folder, "contexts/tls", id, "docker");
  return toAddress(host, existsSync(tlsFolder) ? tlsFolder : undefined);
}

function readJson(path: string): unknown {
  try {
    return parseJSON(readFileSync(path, "utf8"));
  } catch {
    return undefined;
  }
}
