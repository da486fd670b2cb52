// Every route of `rlm serve`.

import { z } from "zod";
import { createOpenAPI } from "./description/openapi.ts";
import { createPage, PAGE_POLICY } from "./description/page.ts";
import { json, routesTagged, type Route } from "./route.ts";
import { aboutRoutes } from "./routes/about.ts";
import { executionRoutes } from "./routes/executions.ts";
import { fileRoutes } from "./routes/files.ts";
import { mcpRoutes } from "./routes/mcp.ts";
import { pageRoutes } from "./routes/page.ts";
import { runRecordRoutes } from "./routes/run-records.ts";
import { runRoutes } from "./routes/runs.ts";
import { sessionRoutes } from "./routes/sessions.ts";
import { stateRoutes } from "./routes/state.ts";
import { stdlibRoutes } from "./routes/stdlib.ts";
import { taskRoutes } from "./routes/tasks.ts";
import { variableRoutes } from "./routes/variables.ts";
import { webSocketRoutes } from "./routes/web-sockets.ts";

const route = routesTagged("Server");
const HTML = "text/html; charset=utf-8";

export const ROUTES: readonly Route[] = [
  ...aboutRoutes,
  ...sessionRoutes,
  ...stateRoutes,
  ...executionRoutes,
  ...variableRoutes,
  ...fileRoutes,
  ...stdlibRoutes,
  ...taskRoutes,
  ...runRoutes,
  ...runRecordRoutes,
  ...mcpRoutes,
  ...webSocketRoutes,
  ...pageRoutes,
];

/** The description of all routes, for programs and for people. */
export const API_ROUTES: readonly Route[] = [
  route("GET", "/v1/openapi.json", {
    summary: "This description",
    isLight: true,
    responses: { 200: { description: "OpenAPI 3.1", schema: z.looseObject({}).meta({ id: "OpenAPI" }) } },
    handle: () => json(description.document),
  }),
  route("GET", "/v1/docs", {
    summary: "This description as a page",
    isOpen: true,
    isLight: true,
    responses: { 200: { description: "A page without scripts", types: [HTML] } },
    handle: () => new Response(description.page, { headers: PAGE_HEADERS }),
  }),
];

const PAGE_HEADERS = { "content-type": HTML, "content-security-policy": PAGE_POLICY };

/** Created once, on the first request: the page needs no token, so it must be cheap to serve. */
class Description {
  #document: object | undefined;
  #page: string | undefined;

  get document(): object {
    return (this.#document ??= createOpenAPI([...ROUTES, ...API_ROUTES]));
  }

  get page(): string {
    return (this.#page ??= createPage(this.document));
  }
}

const description = new Description();
