// A server that is there, and did not do what it was asked. The message is the server's.

export class ServerProblem extends Error {
  override readonly name = "ServerProblem";
  /** Of the answer, such as 404. */
  readonly status: number;
  readonly code: string;
  constructor({ status, code, detail }: { readonly status: number; readonly code: string; readonly detail: string }) {
    super(detail);
    this.status = status;
    this.code = code;
  }
}
