/** A copy without the fields that are undefined, so that spreading it overrides no default. */
export function omitUndefined<Fields extends object>(
  fields: Fields,
): { [Key in keyof Fields]: Exclude<Fields[Key], undefined> } {
  const defined: Partial<Fields> = {};
  for (const key of Object.keys(fields) as (keyof Fields)[]) {
    if (fields[key] !== undefined) defined[key] = fields[key];
  }
  return defined as ReturnType<typeof omitUndefined<Fields>>;
}
