// The standard library: functions that every session opened later has.

import { json, routesTagged } from "../route.ts";
import { addAnswer, addBody } from "../../../protocol/api/stdlib.ts";
import { stdlibListing } from "../../../protocol/sessions.ts";

const route = routesTagged("Standard library");

const list = route("GET", "/v1/stdlib", {
  summary: "List the standard library",
  responses: { 200: { description: "Its functions, modules and other names", schema: stdlibListing } },
  handle: async (_request, { runtime }) => json(await runtime.stdlib.list()),
});

const add = route("POST", "/v1/stdlib", {
  isOnce: true,
  summary: "Add Python source to the standard library",
  description: "Replaces functions and classes of the same name. Applies to sessions opened later.",
  body: addBody,
  maxBodyBytes: 8 * 1024 * 1024,
  responses: { 200: { description: "The names that were added", schema: addAnswer } },
  handle: async ({ body }, { runtime }) => json({ names: await runtime.stdlib.add(body.code) }),
});

export const stdlibRoutes = [list, add];
