// `rlm serve` with one more route, which answers with what it was sent: same guards, same parsing, same socket, no session.
//
// Bundled by the bench beside dist/cli.js. Prints its address, and ends when its input does.

import { z } from "zod";
import { openRuntime } from "../../src/runtime.ts";
import { createApp, openDoor } from "../../src/server/http/app.ts";
import { json, route } from "../../src/server/http/route.ts";
import { listen } from "../../src/server/http/serve.ts";

const echo = route({
  method: "POST",
  path: "/echo",
  tag: "Bench",
  summary: "What was sent",
  body: z.strictObject({ code: z.string() }),
  answers: { 200: { description: "What was sent" } },
  handle: ({ body }) => json(body),
});

const runtime = await openRuntime({
  ids: "random",
  idleTimeoutMs: null,
  limits: { sessions: 1000 },
  ...(process.env["RLM_PYTHON"] && { python: process.env["RLM_PYTHON"] }),
});
await runtime.warm();
const app = createApp(openDoor(runtime), { token: process.env["RLM_TOKEN"] ?? "" }, [echo]);
const listening = await listen(app, { host: "127.0.0.1", port: 0 });
process.stdout.write(`${listening.url}\n`);
process.stdin.resume().once("end", () => void listening.close(0).then(() => runtime.close()));
