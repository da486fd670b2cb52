// What modules of the source tree import, for tests of the layers.

import { existsSync, readdirSync } from "node:fs";
import { join, relative } from "node:path";
import { Visitor, parseSync } from "rolldown/utils";

export const ROOT = join(import.meta.dirname, "..");

export interface Import {
  readonly specifier: string;
  readonly typeOnly: boolean;
  readonly star: boolean;
}

/** All imports of a module: import and export from, import() of a constant, import types. */
export function importsOf(file: string, source: string): Import[] {
  const { program, errors } = parseSync(file, source);
  if (errors[0] !== undefined) throw new Error(`${file} does not parse: ${errors[0].message}`);
  const found: Import[] = [];
  const add = (specifier: string, typeOnly: boolean, star = false): void =>
    void found.push({ specifier, typeOnly, star });
  new Visitor({
    ImportDeclaration: ({ source: { value }, importKind }) => add(value, importKind === "type"),
    ExportAllDeclaration: ({ source: { value }, exportKind }) => add(value, exportKind === "type", true),
    ExportNamedDeclaration: (node) => {
      if (node.source !== null) add(node.source.value, node.exportKind === "type");
    },
    ImportExpression: ({ source: asked }) => {
      if (asked.type === "Literal" && typeof asked.value === "string") add(asked.value, false);
      if (asked.type === "TemplateLiteral") add(asked.quasis[0]?.value.cooked ?? "", false);
    },
    TSImportType: (node) => add(node.source.value, true),
  }).visit(program);
  return found;
}

/** The files of a folder of the source tree, sorted; none where it does not exist. */
export function filesIn(folder: string, ending: string): string[] {
  if (!existsSync(join(ROOT, folder))) return [];
  return readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(ending))
    .map((entry) => relative(ROOT, join(entry.parentPath, entry.name)))
    .toSorted();
}
