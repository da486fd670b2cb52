// The command line or the configuration is wrong. Nothing was started; the message says what would be right.

export class UsageError extends Error {
  override readonly name = "UsageError";
}
