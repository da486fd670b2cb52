// Prints a TypeScript module that compiles only if no public type of a release is, or contains, `any`.
//
//   node scripts/type-probe.mjs dist/types/index.d.ts > probe.mts
//
// Data (what comes from protocol/) is checked at every level; of the other types, which refer to Node's, only the type itself is.

import { readFileSync } from "node:fs";

const declarations = readFileSync(process.argv[2], "utf8");
const exported = [...declarations.matchAll(/export type \{([^}]+)\} from "([^"]+)"/g)].flatMap(([, names, from]) =>
  names.split(",").map((name) => ({ name: name.trim(), isData: from.startsWith("./protocol/") })),
);
const types = exported.filter(({ name }) => name !== "");
if (!types.some(({ isData }) => isData)) throw new Error("There are no public types");

process.stdout.write(`import type * as api from "rlm-runtime";

type IsAny<T> = 0 extends 1 & T ? true : false;
type HasAny<T> =
  IsAny<T> extends true ? true
  : T extends string | readonly (infer _)[] ? HasAnyItem<T>
  : T extends object ? { [K in keyof T]-?: HasAny<T[K]> }[keyof T]
  : never;
type HasAnyItem<T> = T extends readonly (infer Item)[] ? HasAny<Item> : never;
type Data<T> = [HasAny<T>] extends [never] ? true : false;
type Other<T> = IsAny<T> extends true ? false : true;
`);
for (const { name, isData } of types) {
  process.stdout.write(`true satisfies ${isData ? "Data" : "Other"}<api.${name}>;\n`);
}
