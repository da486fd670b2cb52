// The command line or the configuration is wrong. Nothing was started; the message says what would be right.

export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** Reports a RangeError of the work, a wrong value, as a UsageError. */
export function asUsageError<Value>(work: () => Value): Value {
  try {
    return work();
  } catch (error) {
    if (error instanceof RangeError) throw new UsageError(error.message);
    throw error;
  }
}
