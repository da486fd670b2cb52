// Checks that every test named in docs/security.md and docs/security/ exists.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { readCorpus } from "./stage.ts";

const tests = join(import.meta.dirname, "..");
const docs = join(tests, "../docs");
const pages = ["security.md", ...readdirSync(join(docs, "security")).map((name) => `security/${name}`)];

/** The paragraph after "*Tests:*", up to an empty line or the next item of a list. */
const PARAGRAPH = /\*Tests:\*(?<text>[\s\S]*?)(?=\n\n|\n- |\n\d+\. |$(?![\s\S]))/g;
/** A test file, and the text up to the next one. */
const FILE = /`(?<path>[\w/.-]+\.test\.ts)`(?<rest>.*?)(?=`[\w/.-]+\.(?:test\.ts|py|mjs)`|$)/g;

interface Claim {
  readonly page: string;
  readonly path: string;
  readonly name: string;
}

function readClaims(page: string): readonly Claim[] {
  const text = readFileSync(join(docs, page), "utf8");
  const paragraphs = [...text.matchAll(PARAGRAPH)].map(({ groups }) =>
    (groups?.["text"] ?? "").replaceAll(/\s+/g, " "),
  );
  return paragraphs
    .flatMap((paragraph) => [...paragraph.matchAll(FILE)])
    .flatMap(({ groups: { path = "", rest = "" } = {} }) =>
      [...rest.matchAll(/"(?<name>[^"]+)"/g)].map(({ groups }) => ({ page, path, name: groups?.["name"] ?? "" })),
    );
}

const claims = pages.flatMap(readClaims);

const ids = ["sandbox-probes.json", "protocol-probes.json"].flatMap((name) =>
  readCorpus(name).probes.map(({ id }) => id),
);

describe("the security documents", () => {
  test("make claims", () => expect(claims.length).toBeGreaterThan(250));

  test.each(claims)("$page: $path has '$name'", ({ path, name }) => {
    const source = readFileSync(join(tests, path), "utf8");
    const isProbe = path.endsWith("/probes.test.ts") && ids.includes(name);
    const areProbes = name.startsWith("probes in ") && source.includes(`describeProbes("${name.slice(10)}"`);
    expect(isProbe || areProbes || source.includes(`"${name}"`), `${path} should hold a test named "${name}"`).toBe(
      true,
    );
  });
});
