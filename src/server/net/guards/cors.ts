// Which pages of other sites may ask. None, unless they are named; then browsers are told so, and there are never cookies.

const METHODS = "GET, POST, PUT, DELETE";
const ASKED = [
  "authorization",
  "content-type",
  "accept",
  "idempotency-key",
  "last-event-id",
  "prefer",
  "range",
  "if-range",
  "mcp-protocol-version",
  "mcp-session-id",
  "x-request-id",
].join(", ");
const TOLD = [
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
  "x-request-id",
].join(", ");
const MAX_AGE_SECONDS = "600";

/** As a browser writes it: no path, no capitals. Throws a RangeError for what no browser sends. */
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
      "access-control-allow-headers": ASKED,
      "access-control-max-age": MAX_AGE_SECONDS,
    },
  });
}

export function corsHeaders(origin: string): Readonly<Record<string, string>> {
  return {
    "access-control-allow-origin": origin,
    "access-control-expose-headers": TOLD,
    vary: "Origin",
  };
}
