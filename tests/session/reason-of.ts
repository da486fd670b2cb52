import { FileError } from "../internals.ts";

/** Why a file operation failed: the reason of its FileError, or another error. */
export const reasonOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => "it worked",
    (error: unknown) => (error instanceof FileError ? error.reason : error),
  );
