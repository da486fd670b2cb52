import { join } from "node:path";
import { afterEach, expect, test, vi } from "vitest";
import type { Environment } from "../src/environments/environment.ts";
import { checkSessionOptions, toRuntimeSettings, toSessionSettings } from "../src/runtime-options.ts";
import { DEFAULT_LIMITS } from "../src/session/default-limits.ts";
import type { SessionOptions } from "../src/session/options.ts";
import { ActiveWork } from "../src/util/async/active-work.ts";
import { LOCAL_CAPABILITIES } from "./environments/open-local.ts";

afterEach(() => vi.unstubAllEnvs());

const toSettings = (options: SessionOptions, runtime = {}) =>
  toSessionSettings(options, toRuntimeSettings(runtime), {
    environment: { name: "local", capabilities: LOCAL_CAPABILITIES } as Environment,
    output: { keptBytes: 1, readableBytes: 1 } as never,
    activeWork: new ActiveWork(),
    readStdlib: () => "source",
  });

test("every option of a runtime has a default", () => {
  const data = "/some/data";
  vi.stubEnv("RLM_PYTHON", "/opt/python3");
  vi.stubEnv("RLM_DATA", data);
  vi.stubEnv("RLM_PRELOAD", "");
  expect(toRuntimeSettings({})).toEqual({
    environment: "local",
    python: "/opt/python3",
    preload: expect.arrayContaining(["json", "numpy", "pandas"]),
    poolSize: 3,
    limits: DEFAULT_LIMITS,
    mounts: [],
    timeoutMs: 55_000,
    idleTimeoutMs: 300_000,
    users: undefined,
    stdlibPath: join(data, "stdlib.py"),
    docker: {},
    wasm: {},
    onProgress: expect.any(Function),
    ids: "short",
  });
});

test("what the environment wasm cannot preload is refused, and a default is not", () => {
  expect(() => toRuntimeSettings({ environment: "wasm", preload: ["polars", "json"] })).toThrow(
    /^Cannot preload polars, json in environment 'wasm': .* Leave preload out/,
  );
  vi.stubEnv("RLM_PRELOAD", "polars");
  for (const preload of [undefined, []]) toRuntimeSettings({ environment: "wasm", ...(preload && { preload }) });
  expect(toRuntimeSettings({ environment: "local", preload: ["polars"] }).preload).toEqual(["polars"]);
});

test("a range of users is FIRST-LAST, by option or by variable", () => {
  vi.stubEnv("RLM_SANDBOX_USERS", "3000000-3000999");
  expect(toRuntimeSettings({}).users).toEqual({ first: 3_000_000, last: 3_000_999 });
  expect(toRuntimeSettings({ users: "5-6" }).users).toEqual({ first: 5, last: 6 });
  for (const users of ["5", "6-5", "0-5", "a-b", "1-4294967295", " 1-2", "1-2-3"]) {
    expect(() => toRuntimeSettings({ users })).toThrow(`Cannot use '${users}' as users: it must be FIRST-LAST`);
  }
  vi.stubEnv("RLM_SANDBOX_USERS", "");
  expect(toRuntimeSettings({}).users).toBeUndefined();
});

test("null and Infinity mean no limit, for a runtime and for one session", () => {
  expect(toRuntimeSettings({ timeoutMs: Infinity, idleTimeoutMs: null })).toMatchObject({
    timeoutMs: null,
    idleTimeoutMs: null,
  });
  expect(toSettings({ idleTimeoutMs: Infinity }).idleTimeoutMs).toBe(null);
  expect(toSettings({}, { idleTimeoutMs: 5 }).idleTimeoutMs).toBe(5);
});

test("a session has the mounts of the runtime and its own, and its limits replace the runtime's", () => {
  const runtime = { mounts: [{ path: "/usr/bin/..", mode: "ro" }], limits: { memoryBytes: 2 ** 27, processes: 9 } };
  const own: SessionOptions = { mounts: [{ path: "/nowhere", mode: "rw" }], limits: { processes: 5 } };
  const { sandboxOptions, links } = toSettings(own, runtime);
  expect(links).toEqual({ usr: "/usr", nowhere: "/nowhere" });
  expect(sandboxOptions).toEqual({
    mounts: [
      { path: "/usr", mode: "ro", name: "usr" },
      { path: "/nowhere", mode: "rw", name: "nowhere" },
    ],
    limits: { memoryBytes: 2 ** 27, processes: 5, diskBytes: 2 ** 30, openFiles: 512, branches: 50 },
  });
});

test.each([
  [undefined, 0],
  [false, 0],
  [true, 10],
  [0, 0],
  [4, 4],
])("autoCheckpoint %s keeps %i checkpoints", (autoCheckpoint, count) => {
  expect(toSettings(autoCheckpoint === undefined ? {} : { autoCheckpoint }).autoCheckpoints).toBe(count);
});

test.each([{ autoCheckpoint: "3" }, { autoCheckpoint: -1 }, { idleTimeoutMs: 0 }, { limits: { processes: 1 } }])(
  "%j is refused",
  (options) => {
    expect(() => checkSessionOptions(options as SessionOptions)).toThrow(RangeError);
  },
);
