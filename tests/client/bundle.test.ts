import { isBuiltin } from "node:module";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { rolldown } from "rolldown";
import { Visitor, parseSync } from "rolldown/utils";
import { expect, test } from "vitest";

const ENTRY = join(import.meta.dirname, "../../src/client/index.ts");
const MAX_BYTES = 30_000;

test("the client is small, and uses nothing of Node's", async () => {
  const outside = new Set<string>();
  const bundle = await rolldown({
    input: ENTRY,
    platform: "browser",
    external: (id) => {
      if (isBuiltin(id)) outside.add(id);
      return isBuiltin(id);
    },
  });
  const { output } = await bundle.generate({ format: "esm", minify: true });
  expect(output).toHaveLength(1);
  const { code } = output[0];
  expect([...outside]).toEqual([]);
  expect(gzipSync(code, { level: 9 }).length).toBeLessThan(MAX_BYTES);

  const globals = new Set<string>();
  const { program } = parseSync("client.js", code);
  new Visitor({
    MemberExpression: ({ object }) => {
      if (object.type === "Identifier") globals.add(object.name);
    },
    NewExpression: ({ callee }) => {
      if (callee.type === "Identifier") globals.add(callee.name);
    },
  }).visit(program);
  for (const name of ["Buffer", "process", "global", "require", "__dirname"]) expect(globals).not.toContain(name);
});
