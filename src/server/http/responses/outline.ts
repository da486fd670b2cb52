// The outline of a run as JSON. It may have megabytes, so it is encoded piece by piece, as the client takes them.

import type { RunOutline } from "../../../protocol/run-outline/run-outline.ts";

const ITEMS_AT_ONCE = 200;

export function sendOutline(outline: RunOutline): Response {
  const pieces = toPieces(outline);
  const encoder = new TextEncoder();
  const body = new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        await new Promise((resolve) => void setImmediate(resolve));
        const { done, value } = pieces.next();
        if (done === true) controller.close();
        else controller.enqueue(encoder.encode(value));
      },
    },
    { highWaterMark: 0 },
  );
  return new Response(body, { headers: { "content-type": "application/json" } });
}

function* toPieces({ nodes, spans, marks, ...run }: RunOutline): Generator<string, void> {
  yield JSON.stringify(run).slice(0, -1);
  for (const [name, items] of Object.entries({ nodes, spans, marks })) {
    yield `,"${name}":[`;
    for (let at = 0; at < items.length; at += ITEMS_AT_ONCE)
      yield `${at === 0 ? "" : ","}${JSON.stringify(items.slice(at, at + ITEMS_AT_ONCE)).slice(1, -1)}`;
    yield "]";
  }
  yield "}";
}
