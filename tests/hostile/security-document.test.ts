// Checks that every test named in docs/security.md exists.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { readCorpus } from "./stage.ts";

const docs = join(import.meta.dirname, "../../docs");
const text = readFileSync(join(docs, "security.md"), "utf8");

/** A link to a test file, and the quoted test names up to the next link. */
const claims = [...text.matchAll(/\[[\w.-]+\]\(([^)]+\.test\.ts)\)([^[]*?)(?=\[|\n\n|\|\n|$)/gs)].flatMap(
  ([, path = "", rest = ""]) => [...rest.matchAll(/"([^"]+)"/g)].map(([, name = ""]) => ({ path, name })),
);

const ids = ["sandbox-probes.json", "protocol-probes.json"].flatMap((name) =>
  readCorpus(name).probes.map(({ id }) => id),
);

describe("docs/security.md", () => {
  test("makes claims", () => expect(claims.length).toBeGreaterThan(25));

  test.each(claims)("$path has '$name'", ({ path, name }) => {
    const source = readFileSync(join(docs, path), "utf8");
    const isProbe = path.endsWith("/probes.test.ts") && ids.includes(name);
    expect(isProbe || source.includes(`"${name}"`), `${path} should hold a test named "${name}"`).toBe(true);
  });
});
