// Whole lists of a server, page by page.

import type { Page, PageOptions } from "../../api/page.ts";

const PAGE_ITEMS = 1000;

/** Every item. `list` is called until there is no next page. */
export async function readPages<Item>(list: (options: PageOptions) => Promise<Page<Item>>): Promise<Item[]> {
  const all: Item[] = [];
  let after: string | undefined;
  for (;;) {
    const { items, next } = await list({ limit: PAGE_ITEMS, after });
    all.push(...items);
    if (next === null) return all;
    after = next;
  }
}
