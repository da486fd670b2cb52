// A program that uses the client as every platform can: `node client.mjs URL TOKEN`, and the same in Deno and Bun. Prints "ok".

import { RLMError, SessionNotFoundError, connectRuntime } from "rlm-runtime/client";

const [url, token] = (globalThis.Deno?.args ?? globalThis.process.argv.slice(2)) || [];
const runtime = await connectRuntime({ url, token });
const session = await runtime.openSession();

const result = await session.execute("1 + 1");
check("the result of an execution", result.unwrap().text, "2");

let printed = "";
for await (const event of session.execute("for i in range(3): print(i)")) {
  if (event.type === "output-delta") printed += event.text;
}
check("the events of an execution", printed, "0\n1\n2\n");

const bytes = new Uint8Array([0, 1, 254, 255]);
await session.files.write("a.bin", bytes);
check("a file", [...(await session.files.read("a.bin"))].join(), [...bytes].join());
await session.files.write("b.txt", new Blob(["from a blob"]));
check("a file from a Blob", new TextDecoder().decode(await session.files.read("b.txt")), "from a blob");

const failed = await session.execute("1/0");
check("an exception", failed.status === "error" ? failed.error.name : failed.status, "ZeroDivisionError");
const missing = await runtime.sessions.get("nobody").catch((error) => error);
check("an error", missing instanceof SessionNotFoundError && missing instanceof RLMError, true);

if (globalThis.WebSocket !== undefined) {
  const subscription = session.subscribe((event) => event.type === "execution-end" && ended());
  let ended = () => {};
  const end = new Promise((resolve) => {
    ended = resolve;
  });
  await subscription.ready;
  await session.execute("2");
  await end;
  subscription[Symbol.dispose]();
}

await session.close();
await runtime.close();
console.log("ok");

function check(what, found, wanted) {
  if (found !== wanted) throw new Error(`${what} is ${JSON.stringify(found)} instead of ${JSON.stringify(wanted)}`);
}
