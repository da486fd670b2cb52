// The standard library: functions that are there in every session opened later.

import { json, route } from "../route.ts";
import { addAnswer, addBody } from "../../../protocol/api/stdlib.ts";
import { stdlibListing } from "../../../protocol/sessions.ts";

const TAG = "Standard library";

const list = route({
  method: "GET",
  path: "/v1/stdlib",
  tag: TAG,
  summary: "What the standard library has",
  answers: { 200: { description: "Its functions, modules and other names", schema: stdlibListing } },
  handle: async (_asked, { runtime }) => json(await runtime.stdlib.list()),
});

const add = route({
  method: "POST",
  path: "/v1/stdlib",
  tag: TAG,
  summary: "Add Python source to the standard library",
  description: "Functions and classes of the same name are replaced. Sessions opened later have it.",
  body: addBody,
  maxBodyBytes: 8 * 1024 * 1024,
  answers: { 200: { description: "It is there", schema: addAnswer } },
  handle: async ({ body }, { runtime }) => json({ names: await runtime.stdlib.add(body.code) }),
});

export const stdlibRoutes = [list, add];
