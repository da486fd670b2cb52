// The id of a request: in its response, its problem and the log.

import { randomId } from "../../../util/make-id.ts";

const FORM = /^[\w.:/+=@-]{1,100}$/;

/** The client's own if it is safe in a header and a log line, else a new one. */
export function toRequestId(sent: string | undefined): string {
  return sent !== undefined && FORM.test(sent) ? sent : randomId("req");
}
