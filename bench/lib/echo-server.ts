// `rlm serve` with an additional echo route: the same guards, parsing, log and metrics, but no session and no rate limit per
// address.
//
// The benchmark bundles it next to dist/cli.cjs. Prints its address, and exits when its input ends.

import { createWriteStream } from "node:fs";
import { z } from "zod";
import { openRuntime } from "../../src/runtime.ts";
import { createServerContext } from "../../src/server/create-context.ts";
import { createApp } from "../../src/server/http/app.ts";
import { json, routesTagged } from "../../src/server/http/route.ts";
import { listen } from "../../src/server/net/listen.ts";
import { ServerLog } from "../../src/server/observability/server-log.ts";
import { connectObservers } from "../../src/server/observability/observer.ts";
import { openLog } from "../../src/server/observability/log.ts";
import { WebSockets } from "../../src/server/ws/web-sockets.ts";

const echo = routesTagged("Bench")("POST", "/echo", {
  summary: "What was sent",
  body: z.strictObject({ code: z.string() }),
  responses: { 200: { description: "What was sent" } },
  handle: ({ body }) => json(body),
});

const runtime = await openRuntime({
  ids: "random",
  idleTimeoutMs: null,
  limits: { sessions: 1000 },
  ...(process.env["RLM_PYTHON"] && { python: process.env["RLM_PYTHON"] }),
});
await runtime.warm();
const token = process.env["RLM_TOKEN"] ?? "";
const context = createServerContext(runtime, { executions: { running: 2000 } });
const log = openLog({ level: "info", format: "json", sink: createWriteStream("/dev/null") });
const observed = connectObservers(context, [context.metrics, new ServerLog(log)]);
const limits = { rate: { perSecond: 1_000_000, burst: 1_000_000 } };
const app = createApp(context, { token, ...observed, limits }, [echo]);
const upgrader = new WebSockets(context, { token, onUnexpected: observed.onUnexpected });
const listening = await listen(app, { host: "127.0.0.1", port: 0, upgrader });
process.stdout.write(`${listening.url}\n`);
process.stdin.resume().once("end", () => void listening.close(0).then(() => runtime.close()));
