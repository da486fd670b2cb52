// Health, version and metrics.

import type { z } from "zod";
import { healthAnswer, versionAnswer } from "../../../protocol/api/about.ts";
import { toRuntimeInfo } from "../../../views/runtime-info.ts";
import type { ServerContext } from "../../context/server-context.ts";
import { json, routesTagged } from "../route.ts";

const route = routesTagged("Server");
const METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8";

function toHealth({ runtime, draining }: ServerContext): z.output<typeof healthAnswer> {
  if (draining.aborted) return { status: "ending", live: true, ready: false };
  const isReady = runtime.report().tier !== null;
  return { status: isReady ? "ok" : "starting", live: true, ready: isReady };
}

const health = route("GET", "/v1/health", {
  summary: "Whether the server is live and ready",
  isOpen: true,
  isLight: true,
  responses: { 200: { description: "It is live", schema: healthAnswer } },
  handle: (_request, context) => json(toHealth(context)),
});

const ready = route("GET", "/v1/health/ready", {
  summary: "Whether the server is ready, as a status",
  isOpen: true,
  isLight: true,
  responses: {
    200: { description: "It is ready", schema: healthAnswer },
    503: { description: "It is starting or shutting down", schema: healthAnswer },
  },
  handle: (_request, context) => {
    const state = toHealth(context);
    return json(state, state.ready ? 200 : 503);
  },
});

const version = route("GET", "/v1/version", {
  summary: "Versions, and the environment of sessions",
  isLight: true,
  responses: { 200: { description: "Versions", schema: versionAnswer } },
  handle: (_request, { runtime }) => json(toRuntimeInfo(runtime)),
});

const metrics = route("GET", "/metrics", {
  summary: "Metrics in the text format of Prometheus",
  isLight: true,
  responses: { 200: { description: "The metrics", types: [METRICS_TYPE] } },
  handle: async (_request, context) =>
    new Response(await context.metrics.render(), { headers: { "content-type": METRICS_TYPE } }),
});

export const aboutRoutes = [health, ready, version, metrics];
