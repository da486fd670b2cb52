// The page at a path of a proxy: its files, its requests, its WebSockets and its frames are all found below that path.

import { createServer, request, type Server } from "node:http";
import { connect, type AddressInfo } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import { hasBrowser } from "../harness/browser.ts";
import { useStage } from "../harness/stage.ts";

const PREFIX = "/box/rlm";

/** Passes on what is below the prefix, without it, and nothing else. */
async function openProxy(target: string): Promise<{ readonly url: string; readonly server: Server }> {
  const { port } = new URL(target);
  const server = createServer((incoming, outgoing) => {
    const { url = "", method, headers } = incoming;
    if (!url.startsWith(`${PREFIX}/`)) return outgoing.writeHead(404).end();
    const options = { host: "127.0.0.1", port, path: url.slice(PREFIX.length), method, headers };
    const passed = request(options, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
    });
    passed.on("error", () => outgoing.destroy());
    outgoing.on("close", () => passed.destroy());
    return incoming.pipe(passed);
  });
  server.on("upgrade", ({ url = "", rawHeaders }, socket, head) => {
    if (!url.startsWith(`${PREFIX}/`)) return socket.destroy();
    const lines = rawHeaders.flatMap((name, at) => (at % 2 === 0 ? [`${name}: ${rawHeaders[at + 1]}`] : []));
    const passed = connect(Number(port), "127.0.0.1", () => {
      passed.write(`GET ${url.slice(PREFIX.length)} HTTP/1.1\r\n${lines.join("\r\n")}\r\n\r\n`);
      passed.write(head);
      socket.pipe(passed).pipe(socket);
    });
    passed.on("error", () => socket.destroy());
    return socket.on("error", () => passed.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${PREFIX}/`, server };
}

describe.skipIf(!hasBrowser)("behind a path of a proxy", { tags: "stress" }, () => {
  const on = useStage();
  const servers: Server[] = [];
  afterEach(() => {
    for (const server of servers.splice(0)) server.closeAllConnections();
  });

  test("shows a session with its outputs, live", async () => {
    const { url, server } = await openProxy(on.stage.url);
    servers.push(server);
    const session = await on.stage.runtime.openSession();
    (await session.execute("class Output:\n    def _repr_html_(self): return '<p>in a frame</p>'\nOutput()")).unwrap();
    const reader = await on.stage.open();
    const { page } = reader;
    await page.goto(`${url}#/sessions/${session.id}?token=${on.stage.token}`);
    await page.frameLocator("iframe").getByText("in a frame").waitFor();
    await session.execute("print('printed ' + 'later')");
    await page.getByText("printed later").waitFor();
    expect(page.url()).toBe(`${url}#/sessions/${session.id}`);
  });
});
