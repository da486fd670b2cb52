// What is recorded of runs, for those who look at them: outlines, and events by range.

import { omitUndefined } from "../../../util/omit-undefined.ts";
import { runEventPageQuery, runSearchQuery } from "../../../protocol/api/runs.ts";
import { runEventPage, runOutline, runSearchAnswer } from "../../../protocol/run-outline/run-outline.ts";
import { readEventPage } from "../../../store/runs/indexed/event-page.ts";
import { indexRun, searchRun } from "../../../views/run-records.ts";
import { sendOutline } from "../responses/outline.ts";
import { json, routesTagged } from "../route.ts";

const route = routesTagged("Runs");

const outline = route("GET", "/v1/runs/{id}/outline", {
  summary: "The nodes of a run and what took time in each, without texts",
  description: "Of a running run, as far as it is recorded: follow the events after its `seq` to keep it up to date.",
  responses: { 200: { description: "The outline", schema: runOutline } },
  problems: [404],
  handle: async ({ params }, { runtime }) => sendOutline((await indexRun(runtime, params["id"] ?? "")).outline),
});

const events = route("GET", "/v1/runs/{id}/events/page", {
  summary: "Recorded events of a run by range",
  description:
    "As recorded: long texts are `{ $blob, bytes, head }`, see `/blobs`. Quick wherever the events are in a long record. A page ends after " +
    "4 MiB, too.",
  query: runEventPageQuery,
  responses: { 200: { description: "The events, in order", schema: runEventPage } },
  problems: [404],
  handle: async ({ params, query }, { runtime }) => {
    const run = await indexRun(runtime, params["id"] ?? "");
    const { lines, next } = await readEventPage(run, omitUndefined(query));
    // The lines are JSON already.
    return new Response(`{"events":[${lines.join()}],"next":${next}}`, {
      headers: { "content-type": "application/json" },
    });
  },
});

const search = route("GET", "/v1/runs/{id}/search", {
  summary: "Where a text occurs in a run",
  description:
    "In questions, prompts, replies, reasoning, code, output, errors, observations, answers, and what tools were given and returned; long " +
    "texts included, each text once. One request takes half a second or so: continue after `next`, also where there are no matches yet.",
  query: runSearchQuery,
  responses: { 200: { description: "The matches, in order, one for each text", schema: runSearchAnswer } },
  problems: [404],
  handle: async ({ request, params, query: { text, ...range } }, { runtime }) => {
    const found = await searchRun(runtime, params["id"] ?? "", text, {
      ...omitUndefined(range),
      signal: request.signal,
    });
    return json(found);
  },
});

export const runRecordRoutes = [outline, events, search];
