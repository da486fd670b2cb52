// A page without any wall, with a token where the real page keeps its own. An attack that does not succeed here proves nothing there.

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

export const CONTROL_TOKEN = "token-of-the-control";

export interface Control extends AsyncDisposable {
  readonly url: string;
  /** The HTML that is part of the page from now on. */
  show(html: string): void;
}

export async function openControl(): Promise<Control> {
  let shown = "";
  const server = createServer((_, response) => {
    response.writeHead(200, { "content-type": "text/html; charset=utf-8" });
    response.end(
      `<!doctype html><script>sessionStorage["rlm-token"] = "${CONTROL_TOKEN}"</script><body>${shown}</body>`,
    );
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    show: (html) => void (shown = html),
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}
