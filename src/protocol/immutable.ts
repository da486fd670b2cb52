// Parsed data as the rest of the code sees it: read-only at every level.

type Primitive = string | number | boolean | null | undefined;

export type Immutable<T> = T extends Primitive
  ? T
  : T extends readonly (infer Item)[]
    ? readonly Immutable<Item>[]
    : T extends object
      ? { readonly [Key in keyof T]: Immutable<T[Key]> }
      : T;
