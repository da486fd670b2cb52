import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openRuntime } from "rlm-runtime";

const folder = mkdtempSync(join(tmpdir(), "rlm-example-"));
await using runtime = await openRuntime();
await using session = await runtime.openSession();

await session.set("prices", { json: [3, 5, 10] });
await session.execute("import statistics\ndef mean(): return statistics.mean(prices)\nlog = open('log', 'w')");
const { names, skipped } = await session.save(join(folder, "prices.rlm"));
console.log(names.join(", "));
console.log(skipped.map(({ name }) => name).join(", "));

await using again = await runtime.loadSession(join(folder, "prices.rlm"), { id: "again" });
console.log((await again.execute("mean()")).text);
rmSync(folder, { recursive: true });
