// The command line makes no sense. Nothing was started; the message says what would have been right.

export class UsageError extends Error {
  override readonly name = "UsageError";
}
