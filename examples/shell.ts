import { openRuntime } from "rlm-runtime";

await using runtime = await openRuntime();

// A command runs in the working directory of a session; `default` if none is named.
const { stdout, exitCode } = await runtime.shell("printf 'b\\na\\n' > words; sort words; exit 3");
console.log(JSON.stringify(stdout), exitCode);

// A long command: wait for a while, look at its output, continue reading from there.
const task = runtime.shell("for n in 1 2 3; do echo step $n; read line; done", { stdin: "open" });
for await (const event of task) {
  if (event.type !== "output-delta") continue;
  console.log(event.text.trim(), (await task.info()).status);
  await task.write("go on\n");
}
const { bytes } = await task.output({ offset: 7 });
console.log(await task.wait(1_000), JSON.stringify(new TextDecoder().decode(bytes)));

// Pause, resume and kill all its processes, including the daemon.
const server = runtime.shell("(setsid sleep 1000 &) ; sleep 1000", { timeoutMs: 60_000 });
await server.pause();
console.log((await server.info()).status);
await server.cancel();
const { status, why } = await server;
console.log(status, why);
const { items } = await runtime.tasks.list();
console.log(items.map((item) => `${item.id} ${item.status}`).join(", "));
