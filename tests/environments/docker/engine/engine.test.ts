// Which version of the API is spoken with an engine.

import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { findAddress } from "../../../../src/environments/docker/engine/address.ts";
import { Engine } from "../../../../src/environments/docker/engine/engine.ts";

/** An engine that says it has this version, and the paths it was asked for. */
async function openEngine(version: string | undefined): Promise<{ readonly engine: Engine; readonly paths: string[] }> {
  const paths: string[] = [];
  const server = createServer(({ url = "" }, response) => {
    paths.push(url);
    response.writeHead(200, version === undefined ? {} : { "API-Version": version }).end("{}");
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const engine = new Engine(findAddress(`tcp://127.0.0.1:${(server.address() as AddressInfo).port}`));
  onTestFinished(async () => {
    engine.close();
    server.closeAllConnections();
    server.close();
    await once(server, "close");
  });
  return { engine, paths };
}

test.each([
  ["1.38", "1.38"],
  ["1.40", "1.40"],
  ["1.41", "1.41"],
  ["1.47", "1.47"],
  ["1.52", "1.47"],
  ["1.100", "1.47"],
  ["2.0", "1.47"],
])("an engine of API %s is asked by %s", async (version, spoken) => {
  const { engine, paths } = await openEngine(version);
  await engine.call("GET", "/info");
  expect(paths).toEqual(["/_ping", `/v${spoken}/info`]);
});

test.each(["1.37", "1.9", "1.4", "0.50", "", "1", "1.40/../x", undefined])(
  "what says it has API %o is refused",
  async (version) => {
    const { engine, paths } = await openEngine(version);
    await expect(engine.call("GET", "/info")).rejects.toThrow(/not a Docker engine with API 1\.38 or newer/);
    expect(paths).toEqual(["/_ping"]);
  },
);
