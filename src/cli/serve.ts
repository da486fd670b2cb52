// `rlm serve`: the runtime over HTTP until a signal ends it.

import { createApp, openDoor } from "../server/http/app.ts";
import { listen, type Listening } from "../server/http/serve.ts";
import type { Token } from "../server/token.ts";
import { openRuntime, type Runtime } from "../runtime.ts";
import { given } from "../util/given.ts";
import { findModel } from "./mcp-model.ts";
import { serveUntilSignal, toPlace, type AddressArguments } from "./serve-until-signal.ts";

const DRAIN_MS = 10_000;

export async function serve(address: AddressArguments): Promise<number> {
  const model = findModel("there are no runs");
  await using runtime = await openRuntime({ ids: "random" });
  return await serveUntilSignal(address, {
    listen: ({ host, port, ...guard }) =>
      listen(createApp(openDoor(runtime, { model, mcp: given({ onUnexpected: guard.onUnexpected }) }), guard), {
        host,
        port,
      }),
    greet: async (listening, token) => {
      await runtime.warm();
      return greeting(runtime, listening, token);
    },
    drainMs: DRAIN_MS,
  });
}

function greeting(runtime: Runtime, { url }: Listening, token: Token): string {
  const { name, tier, python } = runtime.report();
  const header = quote(`Authorization: Bearer ${token.value}`);
  return [
    `listening ${url}`,
    `curl -s ${url}/process/interpreter/execute -H ${header} -d '{"code":"print(6*7)"}'`,
    `environment ${name}, sandbox tier ${tier ?? "unknown"}, Python ${python?.version ?? "unknown"}`,
    toPlace(token),
    "",
  ].join("\n");
}

/** For a shell. */
function quote(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
