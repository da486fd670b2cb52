// The routes of `rlm serve`.

import type { Hono } from "hono";
import type { Runtime } from "../../runtime.ts";
import { VERSION } from "../../util/version.ts";
import { createGuardedApp, type GuardOptions, type Routes } from "./guarded-app.ts";
import { execute } from "./routes/execute.ts";

const HEALTH = "/v1/health";

export function createApp(runtime: Runtime, options: GuardOptions): Hono {
  const routes: Routes = {
    [HEALTH]: { GET: () => Response.json({ status: "ok", ready: runtime.report().tier !== null }) },
    "/v1/version": { GET: () => Response.json(toVersions(runtime)) },
    "/process/interpreter/execute": { POST: (request) => execute(runtime, request) },
  };
  return createGuardedApp(routes, options, [HEALTH]);
}

function toVersions(runtime: Runtime): object {
  const { name, tier, python } = runtime.report();
  return { version: VERSION, node: process.versions.node, python: python?.version ?? null, environment: name, tier };
}
