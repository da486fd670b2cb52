// The frame around every view: the top bar, the rail with the three places, notices, and what belongs to the page as a whole: its keys, its
// title, the palette.

import type { ComponentChildren, VNode } from "preact";
import { Suspense } from "preact/compat";
import { useEffect, useRef, useState } from "preact/hooks";
import { Icon } from "../parts/icon.tsx";
import { ConfirmProvider } from "../parts/overlay/dialog.tsx";
import { useCommands } from "../state/commands.ts";
import { usePage } from "../state/page.ts";
import { TopBar } from "./bar/top-bar.tsx";
import styles from "./frame.module.css";
import { useKeys } from "./keys/use-keys.ts";
import { NoticeList } from "./notices.tsx";
import { PLACES } from "./places.ts";
import { Rail } from "./rail.tsx";
import { toTitle } from "./title.ts";
import { useHeadingFocus } from "./use-heading-focus.ts";
import { useStrayDrops } from "./use-stray-drops.ts";
import { WINDOWS, type WindowName } from "./windows.tsx";

export function Frame({ children }: { readonly children: ComponentChildren }): VNode {
  const { commands, router } = usePage();
  const [window, setWindow] = useState<WindowName>();
  const main = useRef<HTMLElement>(null);
  const route = router.route.value;

  useKeys(commands);
  useStrayDrops();
  usePageCommands(setWindow);
  useHeadingFocus(main, [route.place, route.path[0], route.query["compare"]].join("/"));
  useEffect(() => {
    document.title = toTitle(route);
  }, [route]);
  const Window = window && WINDOWS[window];
  return (
    <ConfirmProvider>
      <div class={styles["frame"]}>
        <button type="button" class={styles["skip"]} onClick={() => main.current?.focus()}>
          Skip to the content
        </button>
        <TopBar onSearch={() => setWindow("palette")} onShortcuts={() => setWindow("shortcuts")} />
        <Rail />
        <div class={styles["content"]}>
          <LostLine />
          <main ref={main} class={styles["main"]} tabIndex={-1}>
            {children}
          </main>
        </div>
        <NoticeList />
        <Suspense fallback={null}>{Window !== undefined && <Window onClose={() => setWindow(undefined)} />}</Suspense>
      </div>
    </ConfirmProvider>
  );
}

function usePageCommands(show: (window: WindowName) => void): void {
  const { router, theme } = usePage();
  useCommands([
    ...PLACES.map(({ place, name, keys }) => ({
      id: `go ${place}`,
      title: `Go to ${name.toLowerCase()}`,
      group: "Go",
      keys,
      run: () => router.go({ place }),
    })),
    { id: "palette", title: "Search and commands", group: "Page", keys: "Ctrl+k", run: () => show("palette") },
    {
      id: "shortcuts",
      title: "Keyboard shortcuts",
      group: "Page",
      keys: "?",
      words: "help",
      run: () => show("shortcuts"),
    },
    { id: "theme system", title: "Theme: as the system", group: "Page", run: () => theme.choose("system") },
    { id: "theme light", title: "Theme: light", group: "Page", run: () => theme.choose("light") },
    { id: "theme dark", title: "Theme: dark", group: "Page", run: () => theme.choose("dark") },
  ]);
}

/** While the server is away: what is seen stays readable, and this says since when. */
function LostLine(): VNode | null {
  const { connection, notices } = usePage();
  const status = connection.status.value;
  const since = status.state === "lost" ? status.since : undefined;
  const before = useRef(since);
  useEffect(() => {
    if (before.current !== undefined && since === undefined) notices.done("Connected again");
    before.current = since;
  }, [since]);
  if (since === undefined) return null;
  return (
    <p role="alert" class={styles["lost"]}>
      <Icon name="warning" />
      The server has not answered since {new Date(since).toLocaleTimeString()}. What you see is from before; the page
      reconnects by itself.
    </p>
  );
}
