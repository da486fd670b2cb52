// Why a request to a server failed.

/** The server refused the request. The message is the server's. */
export class ServerProblem extends Error {
  override readonly name = "ServerProblem";
  /** The HTTP status, such as 404. */
  readonly status: number;
  readonly code: string;
  constructor({ status, code, detail }: { readonly status: number; readonly code: string; readonly detail: string }) {
    super(detail);
    this.status = status;
    this.code = code;
  }
}

/** No usable response. `configuration`: the address or the token is wrong. `connection`: a retry may succeed. */
export class ServerConnectionError extends Error {
  override readonly name = "ServerConnectionError";
  readonly fault: "configuration" | "connection";
  constructor(fault: "configuration" | "connection", message: string, options?: ErrorOptions) {
    super(message, options);
    this.fault = fault;
  }
}
