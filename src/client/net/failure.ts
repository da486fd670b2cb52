// Why a request has no usable response.

import { ServerConnectionError } from "../../errors.ts";

/** Another attempt may succeed. Never reaches a caller: when the attempts are used up, `error` does. */
export class TemporaryFailure extends Error {
  readonly error: ServerConnectionError;
  /** What the server asks for; 0: nothing. */
  readonly retryAfterMs: number;
  /** The server was silent: it may be at work. */
  readonly isSilence: boolean;
  constructor(error: ServerConnectionError, { retryAfterMs = 0, isSilence = false } = {}) {
    super(error.message);
    this.error = error;
    this.retryAfterMs = retryAfterMs;
    this.isSilence = isSilence;
  }
}

/** `fetch` rejected, or a body broke off. */
export function toLostConnection(url: string, error: unknown): TemporaryFailure | ServerConnectionError {
  const { message = String(error), cause } = (error ?? {}) as { readonly message?: string; readonly cause?: unknown };
  const { code, message: why = message } = (cause ?? {}) as { readonly code?: unknown; readonly message?: string };
  const options = { cause: error };
  if (code === "ENOTFOUND") {
    return new ServerConnectionError(
      { url, fault: "configuration", why: `Cannot reach ${url}: there is no such host. Check the address` },
      options,
    );
  }
  const text =
    code === "ECONNREFUSED"
      ? `Cannot reach ${url}: nothing listens there. Start a server with 'rlm serve', or check the address`
      : `Cannot reach ${url}: ${why || "the connection failed"}. Check that the server runs and allows this origin`;
  return new TemporaryFailure(new ServerConnectionError({ url, fault: "connection", why: text }, options));
}

export function connectionError(url: string, why: string, cause?: unknown): ServerConnectionError {
  return new ServerConnectionError({ url, fault: "connection", why }, cause === undefined ? {} : { cause });
}

export function configurationError(url: string, why: string): ServerConnectionError {
  return new ServerConnectionError({ url, fault: "configuration", why });
}

/** What answered is no server of ours, or of another version. */
export function notOurs(url: string, what: string): ServerConnectionError {
  return configurationError(url, `Cannot use ${url} as a server of rlm: ${what}. Check the address and the versions`);
}
