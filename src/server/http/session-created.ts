// Which session of an id a request means: ids can be used again.

const HEADER = "rlm-session-created";

/** For the descriptions of routes. */
export const SESSION_CREATED = {
  [HEADER]: "`createdAt` of the session that is meant: another one with its id gives 410. Absent: whichever has the id",
};

/** Null: whichever has the id. */
export function sessionCreatedAt({ headers }: Request): string | null {
  return headers.get(HEADER);
}
