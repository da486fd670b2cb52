// Starting something once per Idempotency-Key.

import type { ServerContext } from "../context/server-context.ts";

/** For the descriptions of routes. */
export const IDEMPOTENCY_KEY = {
  "idempotency-key": "1 to 255 visible characters. Repeating a request with the same key starts nothing twice",
};

interface Started {
  readonly id: string;
  readonly isRetry: boolean;
  /** Of the response. */
  readonly headers: Readonly<Record<string, string>>;
}

interface StartOnceOptions {
  /** Where what was started is found: `/v1/tasks`. */
  readonly path: string;
  /** Within which keys are unique. Default: the path. */
  readonly scope?: string;
  /** A retry must have the same. */
  readonly body: unknown;
}

/** Throws what `Idempotency.once` and `start` throw. */
export async function startOnce(
  request: Request,
  { path, scope = path, body }: StartOnceOptions,
  { idempotency }: ServerContext,
  start: () => string | Promise<string>,
): Promise<Started> {
  const { id: pending, isRetry } = idempotency.once(request.headers.get("idempotency-key"), scope, body, start);
  const id = await pending;
  const headers = { location: `${path}/${id}`, ...(isRetry && { "idempotency-replayed": "true" }) };
  return { id, isRetry, headers };
}
