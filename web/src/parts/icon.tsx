// Small drawings beside words. A drawing is never the only sign of a meaning, so readers of the screen do not hear it.

import type { VNode } from "preact";

/** Lines of 1.5 on a field of 16. */
const PATHS = {
  "arrow-down": "M8 3v10M4 9l4 4 4-4",
  "arrow-left": "M13 8H3M7 4 3 8l4 4",
  "arrow-right": "M3 8h10M9 4l4 4-4 4",
  "arrow-up": "M8 13V3M4 7l4-4 4 4",
  branch: "M5 3v10M5 10c0-3 6-1 6-5M5 3a1.5 1.5 0 1 0 0-.01M11 5a1.5 1.5 0 1 0 0-.01M5 13a1.5 1.5 0 1 0 0-.01",
  check: "m3 8.5 3.5 3.5L13 4.5",
  "chevron-down": "m4 6 4 4 4-4",
  "chevron-left": "m10 4-4 4 4 4",
  "chevron-right": "m6 4 4 4-4 4",
  "chevron-up": "m4 10 4-4 4 4",
  clock: "M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2ZM8 5v3l2 2",
  close: "m4 4 8 8M12 4l-8 8",
  compare: "M3 3h4v10H3zM9 3h4v10H9z",
  copy: "M6 6h7v7H6zM10 6V3H3v7h3",
  download: "M8 2v8M5 7l3 3 3-3M3 13h10",
  error: "M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2ZM8 5v4M8 11v.2",
  file: "M4 2h5l3 3v9H4zM9 2v3h3",
  filter: "M2.5 4h11M5 8h6M7 12h2",
  fold: "M4 3l4 4 4-4M4 13l4-4 4 4",
  folder: "M2 4h4l1.5 2H14v7H2z",
  info: "M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2ZM8 7.5V11M8 5v.2",
  keyboard: "M2 4h12v8H2zM5 7h.1M8 7h.1M11 7h.1M5 9.5h6",
  link: "M6.5 9.5l3-3M7 4.5l1.5-1.5a3 3 0 0 1 4.5 4.5L11.5 9M9 11.5 7.5 13A3 3 0 0 1 3 8.5L4.5 7",
  monitor: "M2 3h12v8H2zM6 14h4M8 11v3",
  moon: "M13 9.5A5.5 5.5 0 0 1 6.5 3a5.5 5.5 0 1 0 6.5 6.5Z",
  more: "M3.5 7.75a.25.25 0 1 0 0 .5.25.25 0 0 0 0-.5ZM8 7.75a.25.25 0 1 0 0 .5.25.25 0 0 0 0-.5ZM12.5 7.75a.25.25 0 1 0 0 .5.25.25 0 0 0 0-.5Z",
  pause: "M5.5 3.5v9M10.5 3.5v9",
  play: "M5 3l8 5-8 5z",
  plus: "M8 3v10M3 8h10",
  rail: "M2 3h12v10H2zM6 3v10",
  refresh: "M13 8a5 5 0 1 1-1.5-3.5L13 6M13 3v3h-3",
  runs: "M3 3h4v3H3zM9 6.5h4v3H9zM9 11h4v3H9zM5 6v6.5h4M5 8h4",
  search: "M7 2.5a4.5 4.5 0 1 0 0 9 4.5 4.5 0 0 0 0-9ZM10.5 10.5 14 14",
  send: "M13 3v6H3M6 6 3 9l3 3",
  sessions: "M2 3h12v10H2zM4.5 6 7 8l-2.5 2M8 10.5h3",
  stop: "M4 4h8v8H4z",
  sun: "M8 5.5a2.5 2.5 0 1 0 0 5 2.5 2.5 0 0 0 0-5ZM8 1.5v1.5M8 13v1.5M1.5 8H3M13 8h1.5M3.5 3.5l1 1M11.5 11.5l1 1M12.5 3.5l-1 1M4.5 11.5l-1 1",
  tasks: "M7 4h6M7 8h6M7 12h6M2.5 4l1 1 1.5-2M2.5 8l1 1 1.5-2M2.5 12l1 1 1.5-2",
  trash: "M3 4.5h10M6 4.5V3h4v1.5M4.5 4.5l.5 9h6l.5-9",
  unfold: "M4 6l4-4 4 4M4 10l4 4 4-4",
  upload: "M8 10V2M5 5l3-3 3 3M3 13h10",
  variables: "M5 3C3.5 3 4.5 7.5 2.5 8c2 .5 1 5 2.5 5M11 3c1.5 0 .5 4.5 2.5 5-2 .5-1 5-2.5 5",
  warning: "M8 2.5 14.5 13.5h-13zM8 6.5V10M8 11.800v.2",
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name }: { readonly name: IconName }): VNode {
  return (
    <svg
      width="16"
      height="16"
      viewBox="0 0 16 16"
      fill="none"
      stroke="currentColor"
      stroke-width="1.5"
      stroke-linecap="round"
      stroke-linejoin="round"
      aria-hidden="true"
      focusable="false"
    >
      <path d={PATHS[name]} />
    </svg>
  );
}
