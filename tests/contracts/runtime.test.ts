// The contract of `Runtime`, for each implementation of it.

import { rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, test, vi } from "vitest";
import { WebSocket } from "ws";
import type { LocalRuntime } from "../../src/api/local.ts";
import type { Runtime } from "../../src/api/runtime.ts";
import { connectRuntime } from "../../src/client/index.ts";
import { openRuntime } from "../../src/index.ts";
import { contractScript, createScriptedBackend, describeRuntime } from "../../src/testing/index.ts";
import { makeDataFolder } from "../make-data-folder.ts";
import { openTestRuntime, PYTHON } from "../open.ts";
import { openServer, TOKEN, type TestServer } from "../server/ws/connect.ts";

const MAX_WAITING = 8;
const SHARED = { capabilities: { fork: true, checkpoint: true, shell: true }, maxWaiting: MAX_WAITING };

let data: string;
beforeAll(() => {
  data = makeDataFolder();
  vi.stubEnv("RLM_DATA", data);
});
afterAll(() => {
  vi.unstubAllEnvs();
  rmSync(data, { recursive: true, force: true });
});

/** Of a runtime on this machine, and of one behind a server. */
function toOptions(name: string) {
  return { preload: [], poolSize: 1, limits: { waiting: MAX_WAITING }, stdlibPath: join(data, `${name}.py`) };
}

function scripted() {
  return { model: "root", backend: createScriptedBackend(contractScript), cache: false } as const;
}

describeRuntime(
  "on this machine",
  {
    ...SHARED,
    open: () => openRuntime({ python: PYTHON, ...toOptions("local") }),
    rlm: (runtime, options) => (runtime as LocalRuntime).rlm({ ...scripted(), ...options }),
  },
  { describe, test, afterAll },
);

describe("a server", () => {
  let server: TestServer & { readonly closeAll: () => Promise<void> };
  beforeAll(async () => {
    const runtime = await openTestRuntime({ ...toOptions("server"), ids: "random" });
    const opened = await openServer(runtime, { model: scripted() });
    const closeAll = async (): Promise<void> => {
      await opened[Symbol.asyncDispose]();
      await runtime.close();
    };
    server = { ...opened, port: opened.port, closeAll };
  });
  afterAll(() => server.closeAll());

  const connect = (): Promise<Runtime> =>
    connectRuntime({
      url: `http://127.0.0.1:${server.port}`,
      token: TOKEN,
      WebSocket: WebSocket,
    });

  describeRuntime(
    "over HTTP",
    {
      ...SHARED,
      open: connect,
      openOther: connect,
      rlm: (runtime, options) => runtime.rlm(options),
    },
    { describe, test, afterAll },
  );
});
