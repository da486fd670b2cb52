import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";

/** Every problem code in the source. */
function codesIn(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts"))
    .flatMap((name) => [
      ...readFileSync(`${folder}/${name}`, "utf8").matchAll(
        /\bcode: "(?<code>[A-Z_]+)"|^ {2}(?<key>[A-Z_]+): [45]\d\d,/gm,
      ),
    ])
    .map(({ groups }) => groups?.["code"] ?? groups?.["key"] ?? "");
}

test("every code of a problem is documented", () => {
  const codes = new Set(["http", "net", "ws"].flatMap((folder) => codesIn(`src/server/${folder}`)));
  expect(codes).toContain("SESSION_BUSY");
  expect(codes).toContain("TOO_MANY_TRANSFERS");
  const document = readFileSync("docs/http.md", "utf8");
  expect([...codes].filter((code) => !document.includes(`\`${code}\``))).toEqual([]);
});
