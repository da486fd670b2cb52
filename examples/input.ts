import { openRuntime } from "rlm-runtime";

await using runtime = await openRuntime();
await using session = await runtime.openSession();

const execution = session.execute("name = input('Who? ')\nlen(name)", {
  onInput: async ({ prompt, password }) => (prompt === "Who? " && !password ? "Ada Lovelace" : null),
});
const { stdout, text } = await execution;
console.log(stdout + text);
