// The layers of the page, checked against its imports.
//
// Views show what the state holds and know nothing of each other; only the state knows the client.

import { readFileSync } from "node:fs";
import { isBuiltin } from "node:module";
import { join, posix } from "node:path";
import { describe, expect, test } from "vitest";
import { filesIn, importsOf, ROOT, type Import } from "./imports.ts";

/**
 * What each folder or file of web/src imports, besides itself. The longest matching entry is that of a file. A view is in no list but that of
 * `app` and of the exported file, so that no view imports another.
 */
const layers: Readonly<Record<string, readonly string[]>> = {
  style: [],
  // The rows of a run are data: the state keeps them, the view shows them.
  state: ["runs/model", "parts/format.ts", "parts/rich/image/image-size.ts", "export/embedded.ts"],
  parts: ["state", "style"],
  sessions: ["parts", "state", "style"],
  tasks: ["parts", "state", "style"],
  runs: ["parts", "state", "style"],
  "runs/model": ["state", "parts/format.ts", "parts/safe-text.ts"],
  app: ["sessions", "tasks", "runs", "parts", "state", "style"],
  // A page of its own: the viewer in a file, without a server.
  export: ["runs", "parts", "state", "style"],
  "export/embedded.ts": ["state", "export"],
  "main.tsx": ["app", "state", "style"],
};

const CLIENT = "rlm-runtime/client";
/** Also a part of it alone. */
const PROTOCOL = ["rlm-runtime/protocol", "rlm-runtime/run-outline"];
const maxLines = 400;

const files = [".ts", ".tsx"]
  .flatMap((ending) => filesIn("web/src", ending))
  .map((file) => file.slice("web/src/".length));
const { devDependencies } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as {
  readonly devDependencies: Readonly<Record<string, string>>;
};

describe("web/", () => {
  test("imports follow the layers", () => {
    expect(files.length, "number of files read").toBeGreaterThan(0);
    expect(files.flatMap((file) => violations(file, readFileSync(join(ROOT, "web/src", file), "utf8")))).toEqual([]);
  });

  test(`no file has more than ${maxLines} lines`, () => {
    const lengths = files.map((file) => ({
      file,
      lines: readFileSync(join(ROOT, "web/src", file), "utf8").split("\n").length - 1,
    }));
    expect(lengths.filter(({ lines }) => lines > maxLines)).toEqual([]);
  });

  test("HTML strings become elements in parts/rich/ only", () => {
    const risky =
      /dangerouslySetInnerHTML|\b(?:inner|outer)HTML\b|insertAdjacentHTML|createContextualFragment|DOMParser|document\.write/;
    const found = files.filter((file) => risky.test(readFileSync(join(ROOT, "web/src", file), "utf8")));
    expect(found.filter((file) => !file.startsWith("parts/rich/"))).toEqual([]);
  });
});

describe("the check of web/ itself", () => {
  test.each([
    [
      "a view that imports another",
      "runs/x.tsx",
      `import { Y } from "../tasks/y.tsx";`,
      "runs may import parts, state, style",
    ],
    [
      "a part that imports a view",
      "parts/x.tsx",
      `import { Y } from "../runs/y.tsx";`,
      "parts may import state, style",
    ],
    [
      "the client in a view",
      "runs/x.tsx",
      `import { connectRuntime } from "rlm-runtime/client";`,
      "only state/ uses the client",
    ],
    ["the whole package", "state/x.ts", `import { openRuntime } from "rlm-runtime";`, "a browser has only"],
    [
      "a path into src/",
      "state/x.ts",
      `import { y } from "../../../src/client/y.ts";`,
      "web/src imports only what is in it",
    ],
    ["Node", "state/x.ts", `import { join } from "node:path";`, "a browser has no modules of Node"],
    ["an unknown package", "state/x.ts", `import x from "left-pad";`, "left-pad is not in package.json"],
    ["an unknown folder", "extras/x.ts", "export {};", "extras is not in the table"],
  ])("finds %s", (_, file, source, message) => {
    expect(violations(file, source)).toEqual([expect.stringContaining(message)]);
  });

  test("accepts what the table allows", () => {
    const source = `import type { Runtime } from "rlm-runtime/client"; import { reduce } from "rlm-runtime/protocol";
      import { signal } from "@preact/signals"; import styles from "./x.module.css"; import { usePage } from "../state/page.ts";`;
    expect(violations("runs/x.tsx", source)).toEqual([]);
  });
});

/** One line per import that is forbidden. */
function violations(file: string, source: string): string[] {
  const name = layerOf(file);
  const allowed = layers[name];
  if (allowed === undefined) return [`${file}: ${name} is not in the table of layers, tests/web-architecture.test.ts`];
  return importsOf(file, source).flatMap((found) => violation(file, name, allowed, found) ?? []);
}

function violation(file: string, name: string, allowed: readonly string[], found: Import): string | undefined {
  const { specifier, typeOnly } = found;
  const imports = `${file} imports ${specifier}`;
  if (isBuiltin(specifier)) return `${imports}: a browser has no modules of Node`;
  if (!specifier.startsWith(".")) {
    if (specifier === CLIENT)
      return typeOnly || isIn(file, "state") ? undefined : `${imports}: only state/ uses the client`;
    if (PROTOCOL.includes(specifier)) return undefined;
    if (/^rlm-runtime(?:\/|$)/.test(specifier)) return `${imports}: a browser has only ${CLIENT} and ${PROTOCOL[0]}`;
    const packageName = specifier.split("/", specifier.startsWith("@") ? 2 : 1).join("/");
    return packageName in devDependencies ? undefined : `${imports}: ${packageName} is not in package.json`;
  }
  const target = posix.join(posix.dirname(file), specifier);
  if (target.startsWith("../")) return `${imports}: web/src imports only what is in it`;
  if (isIn(target, name) || allowed.some((entry) => isIn(target, entry))) return undefined;
  return `${imports}: ${name} may import ${allowed.join(", ") || "nothing of ours"}`;
}

/** The longest entry that contains the file; else the folder or file that needs an entry. */
function layerOf(file: string): string {
  const entries = Object.keys(layers).filter((entry) => isIn(file, entry));
  return entries.toSorted((a, b) => b.length - a.length)[0] ?? file.split("/")[0] ?? file;
}

function isIn(file: string, entry: string): boolean {
  return file === entry || file.startsWith(`${entry}/`);
}
