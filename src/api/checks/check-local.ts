// The parts of options that only a runtime on this machine takes. Each check throws a TypeError or RangeError.

import type { ModelPrice } from "../../backends/backend.ts";
import type { TokenPrice } from "../../protocol/usage.ts";
import type { DispatchOptions, DockerOptions, Limits, LocalRLMOptions, Mount, WasmOptions } from "../local.ts";
import { checkCount } from "../../util/check-number.ts";
import { checkOptions, optionNames } from "./check-options.ts";

const LIMITS = optionNames<Limits>({
  memoryBytes: true,
  diskBytes: true,
  processes: true,
  openFiles: true,
  branches: true,
  sessions: true,
  totalMemoryBytes: true,
  waiting: true,
  tasks: true,
  keptOutputBytes: true,
  readableOutputBytes: true,
  totalOutputBytes: true,
});
const MOUNT = optionNames<Mount>({ path: true, mode: true, name: true, hideSecrets: true, isOptional: true });
const DISPATCHER = optionNames<DispatchOptions>({
  maxConcurrency: true,
  maxTries: true,
  maxWaitMs: true,
  firstDelayMs: true,
});
const PRICE = optionNames<TokenPrice>({ inputUsd: true, outputUsd: true, cacheReadUsd: true, cacheWriteUsd: true });
const MODEL_PRICE: readonly (keyof ModelPrice)[] = [...PRICE, "tiers"];
const TIER = [...PRICE, "aboveInputTokens"];

/** Only the names; the values are checked with those of sessions. */
export function checkRuntimeLimits(limits: unknown): void {
  checkOptions("openRuntime limits", limits, LIMITS);
}

/** In bytes. */
const MAX_FILE_NAME = 255;

/** A misspelt `hideSecrets` must not show secrets. */
export function checkMounts(mounts: unknown): void {
  if (mounts === undefined) return;
  if (!Array.isArray(mounts)) throw new TypeError("Cannot use mounts: it must be a list of { path, mode }");
  for (const mount of mounts as readonly unknown[]) {
    checkOptions("a mount", mount ?? null, MOUNT);
    const { path, mode, name: link, hideSecrets, isOptional } = mount as Readonly<Record<string, unknown>>;
    if (typeof path !== "string") throw new TypeError("Cannot use a mount: its path must be a string");
    if (mode !== "ro" && mode !== "rw") throw new TypeError(`Cannot mount '${path}': its mode must be 'ro' or 'rw'`);
    if (link !== undefined && (typeof link !== "string" || !isFileName(link)))
      throw new TypeError(
        `Cannot mount '${path}': its name must be that of a file, without slashes and of at most 255 bytes`,
      );
    for (const [name, value] of Object.entries({ hideSecrets, isOptional }))
      if (value !== undefined && typeof value !== "boolean")
        throw new TypeError(`Cannot mount '${path}': ${name} must be a boolean`);
  }
}

const DOCKER = optionNames<DockerOptions>({
  image: true,
  cpus: true,
  memoryBytes: true,
  pids: true,
  network: true,
  runtime: true,
  pull: true,
  host: true,
});
const PULL: readonly unknown[] = [undefined, "missing", "always", "never"];
/** Engines accept no less. */
const LEAST_CPUS = 0.01;

/** A misspelt `runtime` or `pids` must not be ignored. What only the engine knows, it says itself. */
export function checkDockerOptions(docker: DockerOptions | undefined): void {
  checkOptions("openRuntime docker", docker, DOCKER);
  const { image, network, runtime, host, cpus, memoryBytes, pids, pull } = docker ?? {};
  for (const [name, value] of Object.entries({ image, network, runtime, host }))
    if (value !== undefined && typeof value !== "string")
      throw new TypeError(`Cannot use ${String(value)} as docker.${name}: it must be a string`);
  if (cpus !== undefined && !(Number.isFinite(cpus) && cpus >= LEAST_CPUS))
    throw new RangeError(`Cannot use ${String(cpus)} as docker.cpus: it must be a number of at least ${LEAST_CPUS}`);
  checkCount("docker.memoryBytes", memoryBytes, 1);
  checkCount("docker.pids", pids, 1);
  if (!PULL.includes(pull))
    throw new RangeError(`Cannot use '${String(pull)}' as docker.pull: it must be 'missing', 'always' or 'never'`);
}

const WASM = optionNames<WasmOptions>({ wheels: true });

export function checkWasmOptions(wasm: WasmOptions | undefined): void {
  checkOptions("openRuntime wasm", wasm, WASM);
  const { wheels } = wasm ?? {};
  if (wheels !== undefined && typeof wheels !== "string")
    throw new TypeError(`Cannot use ${String(wheels)} as wasm.wheels: it must be the path of a folder`);
}

const OWN_PYTHON: ReadonlyMap<string, string> = new Map([
  ["docker", "that of their image. Choose the image with [docker] image in rlm.toml, or docker.image in the SDK"],
  ["wasm", "that of Pyodide. Leave it out"],
]);

/** An interpreter that was named for a session must not be ignored. */
export function checkSessionPython(environment: string, python: string | undefined): void {
  const own = OWN_PYTHON.get(environment);
  if (python === undefined || own === undefined) return;
  throw new RangeError(`Cannot use python '${python}' in the '${environment}' environment: sessions there use ${own}`);
}

/** As for a session. In `wasm` the interpreter of the runtime is in use: it builds the walls around each session. */
export function checkRuntimePython(environment: string | undefined, python: string | undefined): void {
  if (environment === "docker") checkSessionPython(environment, python);
}

/** In UTF-8, which has no form for half of a surrogate pair. */
function isFileName(name: string): boolean {
  return !/^\.{0,2}$|[/\0\p{Cs}]/u.test(name) && new TextEncoder().encode(name).length <= MAX_FILE_NAME;
}

/** Concurrency and prices: a misspelt price must not count as zero. */
export function checkModelOptions({ dispatcher, prices }: Pick<LocalRLMOptions, "dispatcher" | "prices">): void {
  checkOptions("runtime.rlm dispatcher", dispatcher, DISPATCHER);
  if (prices === undefined) return;
  if (typeof prices !== "object" || prices === null)
    throw new TypeError("Cannot use prices: it must be an object, by model");
  for (const [model, price] of Object.entries(prices)) {
    checkPrice(`the price of '${model}'`, price, MODEL_PRICE);
    for (const tier of price.tiers ?? []) checkPrice(`a tier of the price of '${model}'`, tier, TIER);
  }
}

function checkPrice(what: string, price: unknown, known: readonly string[]): void {
  checkOptions(what, price ?? null, known);
  for (const name of known) {
    const value = (price as Readonly<Record<string, unknown>>)[name];
    if (name !== "tiers" && !(typeof value === "number" && value >= 0))
      throw new RangeError(`Cannot use ${String(value)} as ${name} of ${what}: it must be a number of at least 0`);
  }
}
