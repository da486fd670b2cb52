// Files that are dropped beside a place that takes them are ignored: the browser would open them instead of the page.

import { useEffect } from "preact/hooks";

export function useStrayDrops(): void {
  useEffect(() => {
    const ignore = (event: DragEvent): void => {
      if (event.defaultPrevented || event.dataTransfer?.types.includes("Files") !== true) return;
      event.preventDefault();
      event.dataTransfer.dropEffect = "none";
    };
    addEventListener("dragover", ignore);
    addEventListener("drop", ignore);
    return () => {
      removeEventListener("dragover", ignore);
      removeEventListener("drop", ignore);
    };
  }, []);
}
