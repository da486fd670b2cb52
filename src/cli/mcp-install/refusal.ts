// Why a configuration was left as it is. Nothing has been written.

export class Refusal extends Error {
  override readonly name = "Refusal";
  /** What to put into the file by hand, where that helps. */
  readonly snippet: string | undefined;

  constructor(message: string, { snippet, ...options }: ErrorOptions & { readonly snippet?: string } = {}) {
    super(message, options);
    this.snippet = snippet;
  }
}
