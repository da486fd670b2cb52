// Starting something once per Idempotency-Key, and once per id that the client chose.

import type { ServerContext } from "../context/server-context.ts";

/** For the descriptions of routes. */
export const IDEMPOTENCY_KEY = {
  "idempotency-key": "1 to 255 visible characters. Repeating a request with the same key starts nothing twice",
};

interface Started {
  readonly id: string;
  readonly isRetry: boolean;
  /** It was started before the server restarted, and is recorded. */
  readonly isEarlier: boolean;
  /** Of the response. */
  readonly headers: Readonly<Record<string, string>>;
}

interface StartOnceOptions {
  /** Where what was started is found: `/v1/tasks`. */
  readonly path: string;
  /** Within which keys are unique. Default: the path. */
  readonly scope?: string;
  /** What a chosen id names. Absent: `body.id` is not such an id. */
  readonly kind?: "execution" | "task" | "run";
  /** Whether a restart of the server is survived; `recorded`: the result survives, too. Default: true. */
  readonly isLasting?: boolean | "recorded";
  /** A retry must have the same. */
  readonly body: { readonly id?: string | undefined };
}

/** Throws what `Idempotency` and `start` throw. */
export async function startOnce(
  request: Request,
  { path, scope = path, kind, isLasting = true, body }: StartOnceOptions,
  { idempotency }: ServerContext,
  start: () => string | Promise<string>,
): Promise<Started> {
  let [isKnown, isEarlier] = [false, false];
  const startAs = (): string | Promise<string> => {
    if (kind === undefined) return start();
    const started = idempotency.onceAs(body.id, kind, { scope, body }, start, { isLasting });
    isKnown = started.isRetry;
    isEarlier = started.isEarlier === true;
    return started.id;
  };
  const keyed = idempotency.once(request.headers.get("idempotency-key"), scope, body, startAs, { isLasting });
  const id = await keyed.id;
  const isRetry = keyed.isRetry || isKnown;
  isEarlier ||= keyed.isEarlier === true;
  return {
    id,
    isRetry,
    isEarlier,
    headers: { location: `${path}/${id}`, ...(isRetry && { "idempotency-replayed": "true" }) },
  };
}
