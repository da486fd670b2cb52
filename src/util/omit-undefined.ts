// Fields that were said, without those that were not.

/** Without what is undefined, so that it replaces nothing. */
export function given<Fields extends object>(
  fields: Fields,
): { [Key in keyof Fields]: Exclude<Fields[Key], undefined> } {
  const said: Partial<Fields> = {};
  for (const key of Object.keys(fields) as (keyof Fields)[]) if (fields[key] !== undefined) said[key] = fields[key];
  return said as ReturnType<typeof given<Fields>>;
}
