// Health and version.

import { z } from "zod";
import { VERSION } from "../../../util/version.ts";
import type { ServerContext } from "../../context/server-context.ts";
import { json, route } from "../route.ts";

const TAG = "Server";

const healthAnswer = z
  .strictObject({
    status: z.enum(["ok", "starting", "ending"]),
    live: z.literal(true),
    ready: z.boolean().describe("It takes work: sessions can be opened, and it is not about to end"),
  })
  .meta({ id: "Health" });

const versionAnswer = z
  .strictObject({
    version: z.string(),
    node: z.string(),
    python: z.string().nullable(),
    environment: z.string(),
    tier: z.string().nullable().describe("The kind of walls around sessions. Null: none was opened yet"),
  })
  .meta({ id: "Version" });

function toHealth({ runtime, draining }: ServerContext): z.output<typeof healthAnswer> {
  if (draining.aborted) return { status: "ending", live: true, ready: false };
  const isReady = runtime.report().tier !== null;
  return { status: isReady ? "ok" : "starting", live: true, ready: isReady };
}

const health = route({
  method: "GET",
  path: "/v1/health",
  tag: TAG,
  summary: "Whether the server lives, and whether it takes work",
  isOpen: true,
  isLight: true,
  responses: { 200: { description: "It lives", schema: healthAnswer } },
  handle: (_request, context) => json(toHealth(context)),
});

const ready = route({
  method: "GET",
  path: "/v1/health/ready",
  tag: TAG,
  summary: "Whether the server takes work, as a status",
  isOpen: true,
  isLight: true,
  responses: {
    200: { description: "It does", schema: healthAnswer },
    503: { description: "It starts, or is about to end", schema: healthAnswer },
  },
  handle: (_request, context) => {
    const state = toHealth(context);
    return json(state, state.ready ? 200 : 503);
  },
});

const version = route({
  method: "GET",
  path: "/v1/version",
  tag: TAG,
  summary: "Versions, and where sessions run",
  isLight: true,
  responses: { 200: { description: "Versions", schema: versionAnswer } },
  handle: (_request, { runtime }) => {
    const { name, tier, python } = runtime.report();
    const versions = { version: VERSION, node: process.versions.node, python: python?.version ?? null };
    return json({ ...versions, environment: name, tier });
  },
});

export const aboutRoutes = [health, ready, version];
