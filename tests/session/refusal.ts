import { FileError } from "../../src/index.ts";

/** Why an operation on files failed: its reason, or the error where it has none. */
export const reasonOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => "it worked",
    (error: unknown) => (error instanceof FileError ? error.reason : error),
  );
