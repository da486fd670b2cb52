import { openRuntime } from "rlm-runtime";

await using runtime = await openRuntime();
await using session = await runtime.openSession();

await session.execute("prices = {'apple': 1.2, 'pear': 0.9}\ndef total(prices, tax=0.2): ...");
const running = session.execute("while True: pass");

const { variables } = await session.variables();
for (const { name, type, kind } of variables) console.log(name, "is a", kind, "of type", type);
const inspected = await session.inspect("prices");
console.log(inspected?.repr?.text);
const { matches } = await session.complete("prices['p", 9);
console.log(matches[0]?.text, matches[0]?.type);
const call = await session.signature("total(prices, ", 14);
console.log(`${call?.name}${call?.signature}`, call?.parameter);

console.log((await session.interrupt()) === running.id, (await running).status);
