// What an address means. Everything that can be looked at has one: `#/runs/r1/n3/2`. The fragment is used, so that the page works at any
// path behind a proxy, and so that the server never learns what is looked at.

export type Place = "sessions" | "tasks" | "runs";

/** `place` says which view shows it. `path` are the decoded segments after it, `query` what follows a question mark. */
export interface Route {
  readonly place: Place;
  readonly path: readonly string[];
  readonly query: Readonly<Record<string, string>>;
}

const PLACES: readonly Place[] = ["sessions", "tasks", "runs"];

export interface RouteLike {
  readonly place: Place;
  readonly path?: readonly string[] | undefined;
  readonly query?: Readonly<Record<string, string | undefined>> | undefined;
}

/** For `href`, and for `go`. */
export function toAddress({ place, path = [], query = {} }: RouteLike): string {
  const address = ["#", place, ...path.map(encodeURIComponent)].join("/");
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    value === undefined ? [] : [`${encodeURIComponent(name)}=${encodeURIComponent(value)}`],
  );
  return pairs.length === 0 ? address : `${address}?${pairs.join("&")}`;
}

export function parseRoute(hash: string): Route {
  const [path = "", query = ""] = hash.replace(/^#\/?/, "").split("?", 2);
  const [first = "", ...rest] = path.split("/").map(decode);
  const place = PLACES.find((known) => known === first);
  const pairs = query.split("&").filter((pair) => pair !== "");
  return {
    place: place ?? "sessions",
    path: place === undefined ? [] : rest.filter((segment) => segment !== ""),
    query: Object.fromEntries(
      pairs.map((pair) => {
        const [name = "", value = ""] = pair.split("=", 2);
        return [decode(name), decode(value)];
      }),
    ),
  };
}

/** What is not encoded as it should be stays as it is: anybody can write an address. */
export function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
