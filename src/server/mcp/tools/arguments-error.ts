/** The model called a tool with wrong arguments. Nothing was done; the message says what is right. */
export class ArgumentsError extends Error {
  override readonly name = "ArgumentsError";
}
