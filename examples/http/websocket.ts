// All events of a session, whoever runs the code, over one WebSocket.

import { connectRuntime } from "rlm-runtime/client";
import { WebSocket } from "ws"; // for Node 20; browsers, Deno, Bun and Node 22 have one

const { RLM_URL: url = "http://127.0.0.1:8000", RLM_TOKEN: token = "" } = process.env;
await using runtime = await connectRuntime({ url, token, WebSocket });
await using session = await runtime.openSession();

using subscription = session.subscribe((event) => {
  if (event.type === "output-delta") console.log(JSON.stringify(event.text));
  if (event.type === "execution-end") console.log(event.result.status);
});
await subscription.ready; // whatever happens from now on is received

await session.execute("name = input('who? ')\nprint('Hello', name)", { onInput: () => "Ada" });
await session.close();
await subscription.ended;
