// The checks of `rlm doctor`, in the order of their dependencies. They repair nothing.

import { access, constants, readFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname } from "node:path";
import { loadConfig, type Config } from "../../config/config.ts";
import { RLMError } from "../../errors.ts";
import { DEFAULT_LIMITS } from "../../session/default-limits.ts";
import { DEFAULT_MAX_RUNS } from "../../server/context/run-admission.ts";
import { DEFAULT_EXECUTION_LIMITS } from "../../server/context/executions.ts";
import { DEFAULT_SERVER_LIMITS } from "../../server/net/guards/request-limiter.ts";
import type { EnvironmentName } from "../../environments/registry.ts";
import { healthAnswer } from "../../protocol/api/about.ts";
import { freeBytes } from "../../util/bytes/free-bytes.ts";
import { dataFolder, dataPath, describeDataFolder } from "../../util/data-folder.ts";
import { omitUndefined } from "../../util/omit-undefined.ts";
import { parseJSON } from "../../util/parse-json.ts";
import { formatSize } from "../../util/text/format.ts";
import { currentFolder } from "../../util/system/current-folder.ts";
import { toRuntimeOptions } from "../exec/session-settings.ts";
import { ok, warn, type Finding } from "./finding.ts";
import { checkModels } from "./models.ts";
import { checkEnvironments } from "./environments.ts";
import { checkSandbox } from "./sandbox.ts";
import { probe } from "./probe.ts";

const DEFAULT_PORT = 8000;
const GIB = 1024 ** 3;

/** Sessions are tried in `environment`; default: the configured one. */
export async function* findings(environment?: EnvironmentName): AsyncGenerator<Finding, void, undefined> {
  yield ok("node", `${process.versions.node} at ${process.execPath}`); // bin.ts has checked it
  const config = readConfig();
  const flags = omitUndefined({ env: environment });
  yield* await checkSandbox("check" in config ? toRuntimeOptions(flags) : toRuntimeOptions(flags, config));
  yield await memory();
  yield await folder();
  yield temporary();
  if ("check" in config) yield config;
  else {
    yield configuration(config);
    yield* checkModels(config);
  }
  const { limits = {}, server = {} } = "check" in config ? {} : config;
  yield await port(server.port);
  yield* await checkEnvironments("check" in config ? {} : config.docker);
  yield ok("limits", toLimits({ ...DEFAULT_LIMITS, ...limits }));
  yield ok("server", toServerLimits(server));
}

/** The configuration, or a finding that says what is wrong with it. */
function readConfig(): Config | Finding {
  try {
    return loadConfig({ cwd: currentFolder(), env: process.env });
  } catch (error) {
    if (!(error instanceof RLMError)) throw error;
    return warn("config", error.message, "Correct it: until then rlm run and rlm serve do not start here");
  }
}

/** The files that count, and what of a project's does not. */
function configuration({ files, ignored }: Config): Finding {
  const check = "config";
  const found = files.map(({ path }) => path).join(" over ") || "no rlm.toml: everything has its default";
  if (ignored === null) return ok(check, found);
  const why = ignored.trust === "new" ? "is not trusted" : "has changed since it was trusted";
  const fix = "'rlm config trust' shows what would count, and trusts the file";
  return warn(check, `${ignored.path} ${why}, so these are ignored: ${ignored.names.join(", ")}`, fix);
}

/** There should be enough memory for at least one session at its limit. */
async function memory(): Promise<Finding> {
  const text = await readFile("/proc/meminfo", "utf8").catch(() => "");
  const available = Number(/^MemAvailable:\s+(\d+) kB/m.exec(text)?.[1] ?? Number.NaN) * 1024;
  const found = Number.isNaN(available) ? "unknown" : `${formatSize(available)} available`;
  if (!(available < DEFAULT_LIMITS.memoryBytes)) return ok("memory", found);
  const fix = `A session may use ${formatSize(DEFAULT_LIMITS.memoryBytes)}: end other programs, or pass less with --memory`;
  return warn("memory", found, fix);
}

/** It holds runs, session files and caches. */
async function folder(): Promise<Finding> {
  const check = "data folder";
  const path = dataFolder("server");
  const isWritable = path !== undefined && (await access(path, constants.W_OK).catch(() => false)) !== false;
  if (!isWritable) {
    const why = path === undefined ? `: ${describeDataFolder("server")}` : "";
    const found = `${path ?? dataPath("server")} cannot be written${why}`;
    return warn(check, found, "Set RLM_DATA to a folder that can be written");
  }
  const free = freeBytes(path);
  const found = `${formatSize(free)} free in ${dirname(path)}`;
  if (free >= GIB) return ok(check, found);
  return warn(check, found, "Free some space, or set RLM_DATA to a folder that has more");
}

/** It holds long output of executions. */
function temporary(): Finding {
  const path = tmpdir();
  const free = freeBytes(path);
  const found = `${formatSize(free)} free in ${path}`;
  if (free >= 2 * DEFAULT_LIMITS.readableOutputBytes) return ok("disk", found);
  return warn("disk", found, "Free some space, or set TMPDIR to a folder that has more");
}

/** The port that `rlm serve` would use. */
async function port(wanted = DEFAULT_PORT): Promise<Finding> {
  const check = "port";
  if (wanted === 0) return ok(check, "any that is free");
  const code = await new Promise<string | undefined>((resolve) => {
    const server = createServer().once("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    server.listen(wanted, "127.0.0.1", () => server.close(() => resolve(undefined)));
  });
  if (code === undefined) return ok(check, `${wanted} is free`);
  const fix = "Use another: rlm serve --port 0 takes any that is free";
  if (code !== "EADDRINUSE") return warn(check, `${wanted} cannot be used: ${code}`, fix);
  const answer = parseJSON((await probe(`http://127.0.0.1:${wanted}/v1/health`)) ?? "");
  if (healthAnswer.safeParse(answer).success) return ok(check, `${wanted} is held by an rlm serve`);
  return warn(check, `${wanted} is taken by another program`, fix);
}

function toLimits(limits: typeof DEFAULT_LIMITS): string {
  const { memoryBytes, diskBytes, processes, openFiles, branches, sessions } = limits;
  const each = `${formatSize(memoryBytes)} memory, ${formatSize(diskBytes)} disk, ${processes} processes, ${openFiles} open files`;
  const together = `${formatSize(limits.totalMemoryBytes)} memory, ${formatSize(limits.totalOutputBytes)} stored output`;
  return `${each}, ${branches} branches for a session; ${sessions} sessions, together ${together}`;
}

function toServerLimits({ requests, executions, runs }: Config["server"]): string {
  const most = [
    `${requests ?? DEFAULT_SERVER_LIMITS.requests} requests`,
    `${executions ?? DEFAULT_EXECUTION_LIMITS.running} executions`,
    `${runs ?? DEFAULT_MAX_RUNS} runs`,
  ];
  return `${most.join(", ")} at once`;
}
