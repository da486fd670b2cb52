// Asks again and again while a component is shown and the tab is in front; at once when the tab comes back.

import { useEffect, useRef } from "preact/hooks";

/** What `ask` throws is left to it: the connection says by itself that the server is gone. */
export function usePolling(ask: () => Promise<void>, pauseMs: () => number): void {
  const latest = useRef({ ask, pauseMs });
  latest.current = { ask, pauseMs };
  useEffect(() => {
    let isShown = true;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let isAsking = false;
    const turn = async (): Promise<void> => {
      clearTimeout(timer);
      if (isAsking || !isShown) return;
      isAsking = true;
      if (!document.hidden) await latest.current.ask().catch(() => undefined);
      isAsking = false;
      if (isShown) timer = setTimeout(() => void turn(), latest.current.pauseMs());
    };
    const onVisible = (): void => {
      if (!document.hidden) void turn();
    };
    void turn();
    document.addEventListener("visibilitychange", onVisible);
    return () => {
      isShown = false;
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", onVisible);
    };
  }, []);
}
