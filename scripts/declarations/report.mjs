// The API report: every public name and its signature, by entry, so that a change of the API is seen in review.

import { join } from "node:path";
import { ENTRIES } from "../entries.mjs";
import { withoutComments } from "./check.mjs";
import { findDeclaration, helpersOf } from "./graph.mjs";

const INTRO = `# API report

Every public name with its signature, by entry of the package. \`npm run api\` makes it, and \`npm run check\` compares
it: a change here is a change of the public API. [The reference](reference/README.md) explains the names.
`;

/** The text of docs/api-report.md. */
export function toReport({ graph, root }) {
  const seen = new Map();
  const sections = ENTRIES.map(({ name, types }) => {
    const file = join(root, types);
    const exported = [...graph.get(file).exports.keys()].sort();
    const own = [];
    const shared = new Map();
    for (const publicName of exported) {
      const { file: from, name: declared } = findDeclaration(graph, file, publicName);
      const key = `${from} ${declared}`;
      const first = seen.get(key);
      if (first === undefined) own.push(publicName);
      else shared.set(first, [...(shared.get(first) ?? []), publicName]);
      seen.set(key, first ?? name);
    }
    const texts = own.flatMap((publicName) => textsOf(graph, findDeclaration(graph, file, publicName)));
    const others = [...shared].map(([first, names]) => `As in \`${first}\`: ${names.join(", ")}.\n`);
    return [`## ${name}\n`, ...others, `\`\`\`ts\n${texts.join("\n")}\n\`\`\`\n`].join("\n");
  });
  const unnamed = helpersOf(graph, seen).flatMap((helper) => textsOf(graph, helper));
  const rest = `## Used above, without a public name\n\n\`\`\`ts\n${unnamed.join("\n")}\n\`\`\`\n`;
  return [INTRO, ...sections, ...(unnamed.length > 0 ? [rest] : [])].join("\n");
}

/** The declarations of a name, without comments. */
function textsOf(graph, { file, name }) {
  const parsed = graph.get(file);
  return parsed.declarations.get(name).map(({ start, end }) =>
    withoutComments(parsed, start, end)
      .replace(/^export (?:declare )?/, "")
      .replaceAll(/^\s*\n/gm, "")
      .replaceAll(/^ +/gm, (indent) => " ".repeat(indent.length / 2))
      .trim(),
  );
}
