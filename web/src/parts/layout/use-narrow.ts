// Whether the window is too narrow for two things side by side. The same width is in the style sheets.

import { useEffect, useState } from "preact/hooks";

const NARROW = "(max-width: 48rem)";

export function useNarrow(): boolean {
  const [isNarrow, setNarrow] = useState(() => matchMedia(NARROW).matches);
  useEffect(() => {
    const query = matchMedia(NARROW);
    const follow = (): void => setNarrow(query.matches);
    follow();
    query.addEventListener("change", follow);
    return () => query.removeEventListener("change", follow);
  }, []);
  return isNarrow;
}
