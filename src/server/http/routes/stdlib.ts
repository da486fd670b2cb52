// The standard library: functions that every session opened later has.

import { json, route } from "../route.ts";
import { addAnswer, addBody } from "../../../protocol/api/stdlib.ts";
import { stdlibListing } from "../../../protocol/sessions.ts";

const TAG = "Standard library";

const list = route({
  method: "GET",
  path: "/v1/stdlib",
  tag: TAG,
  summary: "List the standard library",
  responses: { 200: { description: "Its functions, modules and other names", schema: stdlibListing } },
  handle: async (_request, { runtime }) => json(await runtime.stdlib.list()),
});

const add = route({
  method: "POST",
  path: "/v1/stdlib",
  tag: TAG,
  summary: "Add Python source to the standard library",
  description: "Replaces functions and classes of the same name. Applies to sessions opened later.",
  body: addBody,
  maxBodyBytes: 8 * 1024 * 1024,
  responses: { 200: { description: "The names that were added", schema: addAnswer } },
  handle: async ({ body }, { runtime }) => json({ names: await runtime.stdlib.add(body.code) }),
});

export const stdlibRoutes = [list, add];
