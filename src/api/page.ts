// Pages of lists.

/** Which part of a list. */
export interface PageOptions {
  /** The largest number of items. Default: 100; at most 1,000. */
  readonly limit?: number | undefined;
  /** `next` of the page before. Default: the first page. */
  readonly after?: string | undefined;
}

/** A part of a list, as plain data. */
export interface Page<Item> {
  /** In the order of the list. */
  readonly items: readonly Item[];
  /** For `after`. Null: this is the last page. */
  readonly next: string | null;
}
