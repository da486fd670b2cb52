import { openRuntime, type Result } from "rlm-runtime";

await using runtime = await openRuntime();
await using session = await runtime.openSession();

function describe(result: Result): string {
  switch (result.status) {
    case "ok":
      return result.text ?? "no value";
    case "error":
      return `${result.error.name}: ${result.error.value}`;
    case "interrupted":
      return `stopped: ${result.reason}, state ${result.state}`;
    case "exit":
      return `exit code ${result.exitCode}`;
  }
}

console.log(describe(await session.execute("[n * n for n in range(4)]")));
console.log(describe(await session.execute("{}['missing']")));
console.log(describe(await session.execute("while True: pass", { timeoutMs: 200 })));
console.log(describe(await session.execute("import sys; sys.exit(3)")));

// To throw instead: `unwrap()` gives the result of code that succeeded.
const { text } = (await session.execute("2 ** 10")).unwrap();
console.log(text);
