// Maps items with several of them under way at once, and yields the results in order.

interface Bounds<Item> {
  /** Under way at once. */
  readonly count: number;
  /** Of the items that are under way or wait to be yielded, by `weightOf`. One item may exceed it. Default: no bound. */
  readonly weight?: number;
  readonly weightOf?: (item: Item) => number;
}

/** The first error ends it; what is under way then is left to end by itself. */
export async function* mapAhead<Item, Value>(
  items: readonly Item[],
  work: (item: Item) => Promise<Value>,
  { count, weight = Number.POSITIVE_INFINITY, weightOf = () => 0 }: Bounds<Item>,
): AsyncGenerator<Value, void, void> {
  const ahead: { readonly item: Item; readonly value: Promise<Value> }[] = [];
  let [next, taken] = [0, 0];
  /** Whether there was an item, and space for it. */
  const startNext = (): boolean => {
    if (next >= items.length || ahead.length >= count || (ahead.length > 0 && taken >= weight)) return false;
    const item = items[next] as Item;
    const value = work(item);
    value.catch(() => {}); // it is awaited in its turn, if that comes
    ahead.push({ item, value });
    taken += weightOf(item);
    next += 1;
    return true;
  };
  for (;;) {
    while (startNext());
    const first = ahead.shift();
    if (first === undefined) return;
    yield await first.value;
    taken -= weightOf(first.item);
  }
}
