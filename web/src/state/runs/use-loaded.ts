// Something that is loaded when it is shown, as components see it.

import { useEffect, useState } from "preact/hooks";

export type Loaded<Value> =
  | { readonly state: "loading" }
  | { readonly state: "loaded"; readonly value: Value }
  | { readonly state: "failed"; readonly error: unknown };

/** Loads again when one of `keys` changes. Until then what was there before stays; what comes too late is dropped. */
export function useLoaded<Value>(load: () => Promise<Value>, keys: readonly unknown[]): Loaded<Value> {
  const [loaded, setLoaded] = useState<Loaded<Value>>({ state: "loading" });
  useEffect(() => {
    let isLatest = true;
    const settle = (result: Loaded<Value>): void => {
      if (isLatest) setLoaded(result);
    };
    load().then(
      (value) => settle({ state: "loaded", value }),
      (error: unknown) => settle({ state: "failed", error }),
    );
    return () => {
      isLatest = false;
    };
  }, keys);
  return loaded;
}
