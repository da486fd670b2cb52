// The TypeScript type of a schema.
//
// A type of this folder is written `export type Thing = Shape<typeof thing>`, next to the schema `thing`. The release build relies on
// that form: it replaces each such line by a plain interface, because users of the package do not have zod.

import type { z } from "zod";

/** What a schema yields, read-only at every level. */
export type Shape<Schema extends z.ZodType> = DeepReadonly<z.output<Schema>>;

type DeepReadonly<Value> = Value extends string | number | boolean | null | undefined
  ? Value
  : Value extends readonly (infer Item)[]
    ? readonly DeepReadonly<Item>[]
    : Value extends object
      ? { readonly [Key in keyof Value]: DeepReadonly<Value[Key]> }
      : Value;
