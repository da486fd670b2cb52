// Where the reader is, as the address says it.

import { signal, type ReadonlySignal } from "@preact/signals";
import { parseRoute, toAddress, type Route, type RouteLike } from "./route.ts";

export { toAddress, type Place, type Route, type RouteLike } from "./route.ts";

export class Router {
  readonly #route = signal(parseRoute(location.hash));

  get route(): ReadonlySignal<Route> {
    return this.#route;
  }

  /** Follows the address from now on. Dispose to stop. */
  open(): Disposable {
    const follow = (): void => void (this.#route.value = parseRoute(location.hash));
    addEventListener("hashchange", follow);
    addEventListener("popstate", follow);
    follow();
    return {
      [Symbol.dispose]: () => {
        removeEventListener("hashchange", follow);
        removeEventListener("popstate", follow);
      },
    };
  }

  /** `replace`: without an entry in the history, as for a selection that moves with every key. */
  go(route: RouteLike, { replace = false }: { readonly replace?: boolean } = {}): void {
    const address = toAddress(route);
    if (address === location.hash) return;
    if (replace) history.replaceState(history.state, "", address);
    else history.pushState(null, "", address);
    this.#route.value = parseRoute(address);
  }
}
