// The contract of `Runtime`, for the client of a server.

import { afterAll, beforeAll, describe, test } from "vitest";
import { WebSocket } from "ws";
import type { Runtime } from "../../src/api/runtime.ts";
import { connectRuntime } from "../../src/client/index.ts";
import { describeRuntime } from "../../src/testing/index.ts";
import { openTestRuntime } from "../open.ts";
import { openServer, TOKEN, type TestServer } from "../server/ws/connect.ts";
import { scripted, SHARED, useDataFolder } from "./contract.ts";

const toOptions = useDataFolder();

let server: TestServer & { readonly closeAll: () => Promise<void> };
beforeAll(async () => {
  const runtime = await openTestRuntime({ ...toOptions(), ids: "random" });
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
