// The token of the server. It comes in the fragment of the link, which browsers send to nobody, and is kept for this tab alone.

const KEY = "rlm-token";
/** `#token=...`, or behind a route: `#/runs/r1?token=...`. */
const IN_FRAGMENT = /(?:^#|[?&])token=([^&]+)/;

/** Takes the token out of the address, so that no bookmark, screenshot or history keeps it. Undefined: this tab has none. */
export function takeToken(): string | undefined {
  const found = IN_FRAGMENT.exec(location.hash)?.[1];
  if (found === undefined) return sessionStorage.getItem(KEY) ?? undefined;
  const rest = location.hash.replace(IN_FRAGMENT, "");
  history.replaceState(null, "", location.pathname + location.search + (rest.startsWith("#") ? rest : ""));
  const token = decodeToken(found);
  keepToken(token);
  return token;
}

export function keepToken(token: string): void {
  sessionStorage.setItem(KEY, token);
}

export function forgetToken(): void {
  sessionStorage.removeItem(KEY);
}

function decodeToken(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
