import { createWriteStream, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { openRuntime } from "rlm-runtime";

// A file that is too large to paste: half a million readings.
const folder = mkdtempSync(join(tmpdir(), "rlm-example-"));
const file = join(folder, "readings.csv");
function* readings(): Generator<string> {
  for (let block = 0; block < 500; block += 1)
    yield Array.from({ length: 1_000 }, (_, n) => `${block * 1_000 + n},${(n * 7) % 100}\n`).join("");
}
await pipeline(Readable.from(readings()), createWriteStream(file));
console.log(`${Math.round(statSync(file).size / 2 ** 20)} MiB`);

await using runtime = await openRuntime();
await using session = await runtime.openSession({ mounts: [{ path: folder, mode: "ro" }] });

// As a variable: streamed into the session, never held by this process, never JSON.
await session.set("readings", { file, as: "bytes" });
console.log((await session.execute("len(readings), readings.count(b'\\n')")).text);

// Or read where it is: one line at a time, in constant memory.
await session.set("path", { text: file });
const scan = `
highest = 0
with open(path) as lines:
    for line in lines:
        highest = max(highest, int(line.split(",")[1]))
highest`;
console.log((await session.execute(scan)).text);

// A result keeps 1 MiB of each stream. The rest can be read by offset.
const printing = session.execute("for n in range(200_000): print(f'reading {n:06}')");
const { truncated } = await printing;
console.log(`${truncated?.stdout?.omitted} of ${truncated?.stdout?.total} bytes omitted`);
const { bytes, nextOffset } = await printing.output({ stream: "stdout", offset: 1_500_000, length: 30 });
console.log(JSON.stringify(new TextDecoder().decode(bytes)), nextOffset);
rmSync(folder, { recursive: true });
