// The API reference is complete. That it is current is checked by `npm run check`, which compares it with the types.

import { expect, test } from "vitest";
import * as client from "../../src/client/index.ts";
import * as errors from "../../src/errors.ts";
import * as sdk from "../../src/index.ts";
import * as testing from "../../src/testing/index.ts";
import { readPage } from "./pages.ts";

const headings = (page: string): Set<string> =>
  new Set([...readPage(page).matchAll(/^### (?<name>.+)$/gm)].map(({ groups }) => groups?.["name"] ?? ""));

test.each([
  ["rlm-runtime", sdk, ["rlm-runtime"]],
  ["rlm-runtime/client", client, ["rlm-runtime", "client"]],
  ["rlm-runtime/testing", testing, ["testing"]],
])("every value of %s has a section", (_, module, pages) => {
  const known = new Set(pages.flatMap((page) => [...headings(`docs/reference/${page}.md`)]));
  expect(Object.keys(module).filter((name) => !known.has(name))).toEqual([]);
});

test("the index lists every error with its code, and the SDK exports it", () => {
  const index = readPage("docs/reference/README.md");
  const classes = Object.entries(errors).filter(([, value]) => value.prototype instanceof errors.RLMError);
  expect(classes.length).toBeGreaterThan(20);
  const isListed = (name: string): boolean =>
    new RegExp(`^- \\[\`${name}\`\\]\\(\\S+\\), \`"[A-Z_]+"\`: `, "m").test(index);
  const missing = classes.map(([name]) => name).filter((name) => !isListed(name) || !(name in sdk));
  expect(missing).toEqual([]);
});
