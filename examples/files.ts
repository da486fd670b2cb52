import { openRuntime } from "rlm-runtime";

await using runtime = await openRuntime();
await using session = await runtime.openSession();

await session.files.write("data/prices.csv", "apple,3\npear,4\n");
const code = `
import csv
total = sum(int(price) for _, price in csv.reader(open("data/prices.csv")))
open("data/total.txt", "w").write(str(total))
`;
await session.execute(code);
console.log(new TextDecoder().decode(await session.files.read("data/total.txt")));

const { entries } = await session.files.list("data");
for (const { path, type, size } of entries) console.log(path, type, size);
