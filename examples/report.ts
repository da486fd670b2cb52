import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openRuntime } from "rlm-runtime";

const folder = mkdtempSync(join(tmpdir(), "rlm-example-"));
writeFileSync(join(folder, "sales.csv"), "city,sold\nOslo,3\nRome,5\nOslo,4\n");

await using runtime = await openRuntime();
await using session = await runtime.openSession();

// In: a file of this machine, and one from memory.
await session.files.writeFrom("sales.csv", join(folder, "sales.csv"));
await session.files.write("settings.json", JSON.stringify({ minimum: 4 }));

const code = `
import csv, json, os
totals = {}
for row in csv.DictReader(open("sales.csv")):
    totals[row["city"]] = totals.get(row["city"], 0) + int(row["sold"])
minimum = json.load(open("settings.json"))["minimum"]
os.makedirs("reports", exist_ok=True)
for city, sold in totals.items():
    if sold >= minimum:
        print(sold, file=open(f"reports/{city}.txt", "w"))
`;
(await session.execute(code)).unwrap();

// Out: see what is there, read a small file, copy one of any size to this machine.
const { entries } = await session.files.list("reports");
console.log(entries.map(({ path, size }) => `${path} ${size} B`).join(", "));
console.log(new TextDecoder().decode(await session.files.read("reports/Rome.txt")).trim());
await session.files.readTo("reports/Oslo.txt", join(folder, "oslo.txt"));
console.log(readFileSync(join(folder, "oslo.txt"), "utf8").trim());
rmSync(folder, { recursive: true });
