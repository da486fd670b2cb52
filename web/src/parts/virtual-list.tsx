// A long list of which only what is seen is in the page.
//
// The list is a region that scrolls and takes the focus, so that the keys of the browser scroll it. With `followsEnd` it stays at the end
// while the reader is there; otherwise nothing moves, and a button says how much is new and goes there.

import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { RefObject, VNode } from "preact";
import { Icon } from "./icon.tsx";
import { useVirtualizer } from "./use-virtualizer.ts";
import styles from "./virtual-list.module.css";

export interface VirtualListProps<Item> {
  readonly items: readonly Item[];
  readonly keyOf: (item: Item) => string | number;
  /** The height of an item that was not measured yet, in pixels. */
  readonly estimate: number | ((item: Item) => number);
  readonly render: (item: Item, index: number) => VNode;
  /** Keeps the end in view while the reader is there, and offers a way back otherwise. */
  readonly followsEnd?: boolean;
  readonly label: string;
  /** Between items, in pixels. Default: 0. */
  readonly gap?: number;
  /** Above the first and below the last item, in pixels. Default: 0. */
  readonly padding?: number;
  /** How much there is, for the button that says how much is new. Default: how many items. */
  readonly total?: number;
  /** So many items beyond what is seen are in the page. Fewer where items are large. Default: 6. */
  readonly overscan?: number;
  /** This item is scrolled into view whenever the number changes, as for a selection that moves with keys. */
  readonly active?: number | undefined;
  /** Filled while the list is in the page. */
  readonly handle?: RefObject<VirtualListHandle | null>;
}

export interface VirtualListHandle {
  /** `auto`: as little as needed. Default: `auto`. */
  scrollTo(index: number, align?: "start" | "center" | "end" | "auto"): void;
  scrollToEnd(): void;
  focus(): void;
}

/** This close to the end, in pixels, the reader is at the end. */
const END_PX = 32;

export function VirtualList<Item>(props: VirtualListProps<Item>): VNode {
  const { items, keyOf, estimate, render, label, followsEnd = false, active, total, handle } = props;
  const { gap = 0, padding = 0, overscan = 6 } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const virtualizer = useVirtualizer({
    count: items.length,
    getScrollElement: () => scroller.current,
    estimateSize: (index) => {
      if (typeof estimate === "number") return estimate;
      const item = items[index];
      return item === undefined ? 0 : estimate(item);
    },
    getItemKey: (index) => {
      const item = items[index];
      return item === undefined ? index : keyOf(item);
    },
    overscan,
    gap,
    paddingStart: padding,
    paddingEnd: padding,
    // What is put in front moves nothing.
    ...(followsEnd && { anchorTo: "end" }),
  });

  const end = useEnd(scroller, followsEnd, active === undefined);
  useLayoutEffect(() => {
    if (active !== undefined && active >= 0) virtualizer.scrollToIndex(active);
  }, [active]);
  useLayoutEffect(() => {
    if (handle === undefined) return;
    handle.current = {
      scrollTo: (index, align = "auto") => virtualizer.scrollToIndex(index, { align }),
      scrollToEnd: () => end.follow(),
      focus: () => scroller.current?.focus(),
    };
    return () => void (handle.current = null);
  }, [handle, followsEnd]);

  const fresh = useGrowthSince(total ?? items.length, end.isAway);
  return (
    <div class={styles["frame"]}>
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- what scrolls can be reached with the keyboard */}
      <div ref={scroller} class={styles["scroller"]} tabIndex={0} role="region" aria-label={label}>
        <ul class={styles["items"]} aria-label={label} style={{ height: `${virtualizer.getTotalSize()}px` }}>
          {virtualizer.getVirtualItems().map(({ index, key, start }) => {
            const item = items[index];
            return item === undefined ? null : (
              <li
                key={key}
                ref={virtualizer.measureElement}
                data-index={index}
                class={styles["item"]}
                style={{ transform: `translateY(${start}px)` }}
                aria-setsize={items.length}
                aria-posinset={index + 1}
              >
                {render(item, index)}
              </li>
            );
          })}
        </ul>
      </div>
      {end.isAway && (
        <button type="button" class={styles["pill"]} onClick={end.follow}>
          <Icon name="arrow-down" />
          {fresh > 0 ? `${fresh.toLocaleString("en")} new` : "To the end"}
        </button>
      )}
    </div>
  );
}

interface End {
  /** The reader went away from it. */
  readonly isAway: boolean;
  /** Goes there, and stays there. */
  readonly follow: () => void;
}

/**
 * Keeps the end in view, until the reader scrolls up. What is new is measured after it came, so that being at the end for a moment says
 * nothing: only the reader leaves it.
 */
function useEnd(scroller: RefObject<HTMLElement | null>, followsEnd: boolean, startsThere: boolean): End {
  const [isAway, setAway] = useState(followsEnd && !startsThere);
  const away = useRef(isAway);
  const last = useRef(0);
  const stay = (): void => {
    const { current: element } = scroller;
    if (element === null || !followsEnd || away.current) return;
    element.scrollTop = element.scrollHeight;
    last.current = element.scrollTop;
  };
  // After each change of what is shown, and of how large it is. A jump of the reader, as to the beginning, is seen here before its event.
  useLayoutEffect(() => {
    const { current: element } = scroller;
    if (element !== null && hasLeft(element, last.current)) away.current = true;
    stay();
  });
  useEffect(() => {
    const { current: element } = scroller;
    if (element === null || !followsEnd) return;
    const onScroll = (): void => {
      if (hasLeft(element, last.current)) away.current = true;
      else if (distanceToEnd(element) <= END_PX) away.current = false;
      last.current = element.scrollTop;
      setAway(away.current);
    };
    // A wheel that turns slowly is no match for output that comes fast.
    const onWheel = ({ deltaY, target }: WheelEvent): void => {
      const scrolls = element.scrollHeight > element.clientHeight;
      if (deltaY < 0 && scrolls && !scrollsInside(target, element)) away.current = true;
    };
    const resized = new ResizeObserver(stay);
    resized.observe(element);
    element.addEventListener("scroll", onScroll, { passive: true });
    element.addEventListener("wheel", onWheel, { passive: true });
    return () => {
      resized.disconnect();
      element.removeEventListener("scroll", onScroll);
      element.removeEventListener("wheel", onWheel);
    };
  }, [followsEnd]);
  return {
    isAway,
    follow: () => {
      away.current = false;
      setAway(false);
      stay();
    },
  };
}

/** Whether it was scrolled up since it was at `last`. Content that shrinks moves it up as well, but not away from the end. */
function hasLeft(element: HTMLElement, last: number): boolean {
  return element.scrollTop < last && distanceToEnd(element) > 1;
}

function distanceToEnd({ scrollTop, scrollHeight, clientHeight }: HTMLElement): number {
  return scrollHeight - scrollTop - clientHeight;
}

/** Whether a wheel that turns up moves something inside of the list, and not the list. */
function scrollsInside(target: EventTarget | null, list: HTMLElement): boolean {
  for (let at = target; at instanceof Element && at !== list; at = at.parentElement) {
    if (at.scrollTop > 0) return true;
  }
  return false;
}

/** How much the number grew since the reader saw the end. */
function useGrowthSince(total: number, isAway: boolean): number {
  const seen = useRef(total);
  if (!isAway) seen.current = total;
  return Math.max(0, total - seen.current);
}
