// A TypeScript module that compiles only if no public type is, or contains, `any`.
//
// Data (what comes from protocol/) is checked at every level; of the other types, only the type itself is.

import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { findDeclaration, parseDeclarations } from "../declarations/graph.mjs";

/** The text of the module, for the declarations in a folder and entries such as `{ name: "rlm-runtime", types: "index.d.ts" }`. */
export function toProbe(folder, entries) {
  const files = readdirSync(folder, { recursive: true }).filter((name) => name.endsWith(".d.ts"));
  const graph = new Map(files.map((name) => [join(folder, name), parse(join(folder, name))]));
  const lines = entries.flatMap(({ name, types }, index) => [
    `import type * as entry${index} from "${name}";`,
    ...[...graph.get(join(folder, types)).exports.keys()].flatMap((exported) =>
      toCheck(graph, join(folder, types), { exported, entry: `entry${index}` }),
    ),
  ]);
  return [HEADER, ...lines].join("\n");
}

function parse(file) {
  return parseDeclarations(file, readFileSync(file, "utf8"));
}

function toCheck(graph, entryFile, { exported, entry }) {
  const { file, name } = findDeclaration(graph, entryFile, exported);
  const { node } = graph.get(file).declarations.get(name)[0];
  if (!/^TS(TypeAlias|Interface)Declaration$/.test(node.type))
    return `true satisfies Other<typeof ${entry}.${exported}>;`;
  const needed = (node.typeParameters?.params ?? []).filter(({ default: usual }) => !usual);
  const argument = needed.length > 0 ? `<${needed.map(() => "never").join(", ")}>` : "";
  const isData = file.includes("/protocol/") && needed.length === 0;
  return `true satisfies ${isData ? "Data" : "Other"}<${entry}.${exported}${argument}>;`;
}

const HEADER = `type IsAny<T> = 0 extends 1 & T ? true : false;
type HasAny<T> =
  IsAny<T> extends true ? true
  : T extends string | readonly (infer _)[] ? HasAnyItem<T>
  : T extends object ? { [K in keyof T]-?: HasAny<T[K]> }[keyof T]
  : never;
type HasAnyItem<T> = T extends readonly (infer Item)[] ? HasAny<Item> : never;
type Data<T> = [HasAny<T>] extends [never] ? true : false;
type Other<T> = IsAny<T> extends true ? false : true;
`;
