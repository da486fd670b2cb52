// The name of one request: in its answer, in its problem, in the log.

import { randomId } from "../../../util/make-id.ts";

const FORM = /^[\w.:/+=@-]{1,100}$/;

/** The client's own where it can stand in a header and a log line as it is, else a new one. */
export function toRequestId(given: string | undefined): string {
  return given !== undefined && FORM.test(given) ? given : randomId("req");
}
