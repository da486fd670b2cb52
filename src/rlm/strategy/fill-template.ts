// Puts values into a text of a strategy.

/**
 * Replaces `{name}` by the value of that name, once: what a value holds is left as it is, and so are other braces. Where a value is
 * empty, the blank lines before it go, too.
 */
export function fillTemplate(template: string, values: Readonly<Record<string, string>>): string {
  return template.replaceAll(/(\n*)\{(\w+)\}/g, (whole, before: string, name: string) => {
    if (!Object.hasOwn(values, name)) return whole;
    const value = values[name] ?? "";
    return value === "" ? "" : before + value;
  });
}
