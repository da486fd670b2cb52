// The link to the page of a server. What follows `#` stays in the browser: no request and no log of a server contains it.

interface Linked {
  /** A run to show. */
  readonly run?: string | undefined;
  /** The page takes it out of the address at once. Default: the page asks for it. */
  readonly token?: string | undefined;
}

/** `url`: without a trailing slash. */
export function toLink(url: string, { run, token }: Linked): string {
  const secret = token === undefined ? "" : `token=${encodeURIComponent(token)}`;
  if (run !== undefined) return `${url}/#/runs/${encodeURIComponent(run)}${secret && `?${secret}`}`;
  return `${url}/${secret && `#${secret}`}`;
}
