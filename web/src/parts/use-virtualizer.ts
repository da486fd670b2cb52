// TanStack's virtualizer as a hook: which items of a long list are in the page, and where. Items are measured, so their heights may differ
// and may change; what the reader looks at stays in place meanwhile.

import { useLayoutEffect, useReducer, useState } from "preact/hooks";
import {
  elementScroll,
  observeElementOffset,
  observeElementRect,
  Virtualizer,
  type VirtualizerOptions,
} from "@tanstack/virtual-core";

export type ElementVirtualizer = Virtualizer<HTMLElement, HTMLElement>;

type Given = "count" | "getScrollElement" | "estimateSize";
type Options = VirtualizerOptions<HTMLElement, HTMLElement>;

/** Renders again whenever other items are seen. Every item has `data-index` and `ref={virtualizer.measureElement}`. */
export function useVirtualizer(options: Pick<Options, Given> & Partial<Options>): ElementVirtualizer {
  const [, renderAgain] = useReducer((count: number) => count + 1, 0);
  const all: Options = {
    observeElementRect,
    observeElementOffset,
    scrollToFn: elementScroll,
    ...options,
    onChange: (changed, sync) => {
      renderAgain(undefined);
      options.onChange?.(changed, sync);
    },
  };
  const [virtualizer] = useState(() => new Virtualizer<HTMLElement, HTMLElement>(all));
  virtualizer.setOptions(all);
  useLayoutEffect(() => virtualizer._didMount(), [virtualizer]);
  useLayoutEffect(() => virtualizer._willUpdate());
  return virtualizer;
}
