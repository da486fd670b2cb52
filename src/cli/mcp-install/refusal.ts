// Why a configuration was not changed. Nothing has been written.

export class Refusal extends Error {
  override readonly name = "Refusal";
  /** What the user can add to the file by hand. */
  readonly snippet: string | undefined;

  constructor(message: string, { snippet, ...options }: ErrorOptions & { readonly snippet?: string } = {}) {
    super(message, options);
    this.snippet = snippet;
  }
}
