// GET /metrics, for Prometheus.

import { route } from "../route.ts";

const TYPE = "text/plain; version=0.0.4; charset=utf-8";

const metrics = route({
  method: "GET",
  path: "/metrics",
  tag: "Server",
  summary: "Metrics in the text format of Prometheus",
  isLight: true,
  responses: { 200: { description: "The metrics", types: [TYPE] } },
  handle: async (_request, context) =>
    new Response(await context.metrics.render(), { headers: { "content-type": TYPE } }),
});

export const metricsRoutes = [metrics];
