// CORS: pages of other origins may use the server only when they are configured. Cookies are never used.

const METHODS = "GET, POST, PUT, DELETE";
const ALLOWED_HEADERS = [
  "authorization",
  "content-type",
  "accept",
  "idempotency-key",
  "last-event-id",
  "prefer",
  "rlm-protocol",
  "rlm-session-created",
  "range",
  "if-range",
  "mcp-protocol-version",
  "mcp-session-id",
  "x-request-id",
].join(", ");
const EXPOSED_HEADERS = [
  "execution-id",
  "location",
  "idempotency-replayed",
  "next-offset",
  "total-bytes",
  "readable-bytes",
  "accept-ranges",
  "content-range",
  "content-disposition",
  "save-report",
  "mcp-session-id",
  "retry-after",
  "etag",
  "last-modified",
  "rlm-protocol",
  "x-request-id",
].join(", ");
const MAX_AGE_SECONDS = "600";

/** In the form that browsers send. Throws a RangeError for anything else. */
export function parseOrigin(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.origin !== text.toLowerCase().replace(/\/$/, "")) {
    throw new RangeError(`'${text}' is not an origin, such as https://app.example or http://localhost:3000`);
  }
  return url.origin;
}

export function answerPreflight(origin: string): Response {
  return new Response(null, {
    status: 204,
    headers: {
      ...corsHeaders(origin),
      "access-control-allow-methods": METHODS,
      "access-control-allow-headers": ALLOWED_HEADERS,
      "access-control-max-age": MAX_AGE_SECONDS,
    },
  });
}

export function corsHeaders(origin: string): Readonly<Record<string, string>> {
  return {
    "access-control-allow-origin": origin,
    "access-control-expose-headers": EXPOSED_HEADERS,
    vary: "Origin",
  };
}
