// Why a model call waits, and for how long.

const REASONS: ReadonlyMap<string, string> = new Map([
  ["rate-limit", "rate-limited"],
  ["server", "the provider failed"],
  ["connection", "the connection failed"],
  ["timeout", "no answer in time"],
  ["malformed", "the answer was unusable"],
  ["empty", "the answer was empty"],
  ["length", "the answer was cut off"],
]);

/** `rate-limited, trying again in 2 s`. */
export function describeWait({ fault, delayMs }: { readonly fault: string; readonly delayMs: number }): string {
  return `${REASONS.get(fault) ?? "the call failed"}, trying again in ${Math.max(1, Math.ceil(delayMs / 1000))} s`;
}
