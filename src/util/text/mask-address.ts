// Addresses in messages, without what may be a secret.

/** In the place of a secret. */
export const HIDDEN = "(not shown)";

/** Without user, password and query. Other text stays as it is. */
export function maskAddress(text: string): string {
  if (!/^https?:\/\//i.test(text) || !URL.canParse(text)) return text;
  const url = new URL(text);
  if (url.username === "" && url.password === "" && url.search === "") return text;
  const query = url.search === "" ? "" : `?${HIDDEN}`;
  const user = url.username === "" && url.password === "" ? "" : `${HIDDEN}@`;
  return `${url.protocol}//${user}${url.host}${url.pathname}${query}`;
}
