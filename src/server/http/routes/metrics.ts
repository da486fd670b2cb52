// GET /metrics, for Prometheus.

import { routesTagged } from "../route.ts";

const route = routesTagged("Server");

const TYPE = "text/plain; version=0.0.4; charset=utf-8";

const metrics = route("GET", "/metrics", {
  summary: "Metrics in the text format of Prometheus",
  isLight: true,
  responses: { 200: { description: "The metrics", types: [TYPE] } },
  handle: async (_request, context) =>
    new Response(await context.metrics.render(), { headers: { "content-type": TYPE } }),
});

export const metricsRoutes = [metrics];
