// Which paths need no token, by the patterns of their routes.

/** `patterns`: in Hono's syntax. A parameter stands for one segment. Throws for any other syntax, which could open more than was meant. */
export function matchOpenPaths(patterns: readonly string[]): (path: string) => boolean {
  const exact = new Set(patterns.filter((pattern) => !pattern.includes(":")));
  const others = patterns.filter((pattern) => pattern.includes(":")).map(toExpression);
  return (path) => exact.has(path) || others.some((expression) => expression.test(path));
}

function toExpression(pattern: string): RegExp {
  const segments = pattern.split("/").map((segment) => {
    if (/^:\w+$/.test(segment)) return "[^/]+";
    if (/^[\w.-]*$/.test(segment)) return segment.replaceAll(".", String.raw`\.`);
    throw new Error(`An open route cannot have the pattern '${pattern}'`);
  });
  return new RegExp(`^${segments.join("/")}$`);
}
