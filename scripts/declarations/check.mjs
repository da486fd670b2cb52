// What must hold for the declarations of a release: they stand alone, show nothing of the inside, and explain every name.

import { relative } from "node:path";
import { commentBefore, findDeclaration } from "./graph.mjs";

/** Where public declarations may be, besides the entries: files that show nothing of how the runtime works. */
const PUBLIC = [
  "api/",
  "protocol/",
  "errors.d.ts",
  "sdk/runtime.d.ts",
  "session/default-limits.d.ts",
  "rlm/strategy/strategies.d.ts",
  "testing/",
  "client/",
  "tools/tool.d.ts",
  "tools/builtins.d.ts",
  "backends/backend.d.ts",
  "backends/rate-limits.d.ts",
  "backends/providers/language-model.d.ts",
  "backends/scripted/script.d.ts",
];
/** Types of Node's or of the DOM. A project may have neither; api/web-types.ts names what is used of them. */
const FOREIGN =
  /\b(?:Buffer|NodeJS|AbortSignal|AbortController|ReadableStream|WritableStream|Blob|File|URL|Response|Headers|WebSocket|EventTarget|Timeout|globalThis)\b(?!\??:)/;

/** Throws with one line per offence. `graph`: the parsed files that are about to be written. */
export function checkDeclarations(graph, { root, entries }) {
  const problems = [];
  for (const [file, parsed] of graph) {
    const name = relative(root, file);
    if (!entries.includes(file) && !PUBLIC.some((place) => name.startsWith(place)))
      problems.push(
        `${name} is no place for public declarations: it has ${[...parsed.declarations.keys()].join(", ")}`,
      );
    for (const { from } of [...parsed.imports.values(), ...parsed.exports.values()]) {
      if (from !== null && !graph.has(from)) problems.push(`${name} imports '${from}', which users may lack`);
    }
    const code = withoutComments(parsed);
    if (/\bz\.\w+/.test(code)) problems.push(`${name} has a type of zod: write Shape<typeof ...>`);
    const foreign = name === "api/web-types.d.ts" ? null : FOREIGN.exec(code);
    if (foreign !== null) problems.push(`${name} uses ${foreign[0]}, which a project may lack: see api/web-types.ts`);
    problems.push(...uncommented(graph, parsed).map((what) => `${name}: ${what} has no comment`));
  }
  if (problems.length > 0) throw new Error(`The declarations cannot be published:\n  ${problems.join("\n  ")}`);
}

/** The text without comments, of the whole file or of a range of it. */
export function withoutComments({ text, comments }, start = 0, end = text.length) {
  let result = text.slice(start, end);
  for (const comment of comments.filter((one) => one.start >= start && one.end <= end).toReversed()) {
    result = result.slice(0, comment.start - start) + result.slice(comment.end - start);
  }
  return result;
}

/** Public names and members that an editor would explain with nothing. */
function uncommented(graph, parsed) {
  const found = [];
  for (const [name, declared] of parsed.declarations) {
    if (!parsed.exports.has(name)) continue;
    const { node, comment } = declared[0];
    if (comment === undefined) found.push(name);
    for (const member of membersOf(node)) {
      const own = memberName(parsed, member);
      if (own === null || commentBefore(parsed, member.start) !== undefined) continue;
      if (!inherits(graph, parsed, node, own)) found.push(`${name}.${own}`);
    }
  }
  return found;
}

/** The members of a declaration and of the object types in it. Those of classes without constructors. */
function membersOf(node) {
  const found = [];
  const walk = (value) => {
    if (Array.isArray(value)) value.forEach(walk);
    else if (value !== null && typeof value === "object") {
      if (value.type === "TSInterfaceBody" || value.type === "ClassBody") found.push(...value.body);
      if (value.type === "TSTypeLiteral") found.push(...value.members);
      for (const [key, child] of Object.entries(value)) if (!isUnseen(key, value)) walk(child);
    }
  };
  walk(node);
  return found;
}

/** Parameters, which the function explains, and patterns that types are compared with. */
function isUnseen(key, { type, typeName }) {
  if (key === "params") return type !== "TSTypeParameterInstantiation";
  return key === "extendsType" || (key === "typeArguments" && typeName?.name === "Extract");
}

/** Null: it needs no explanation. */
function memberName({ text }, { type, key, computed, static: isStatic }) {
  if (type === "TSIndexSignature" || type.includes("Construct") || type === "TSCallSignatureDeclaration") return null;
  if (key === undefined || key.type === "PrivateIdentifier" || key.name === "constructor" || computed || isStatic)
    return null;
  return text.slice(key.start, key.end);
}

/** Whether the member is explained by an interface or class that this one extends, as editors show it. */
function inherits(graph, parsed, node, name) {
  const parents = (node.extends ?? []).map(({ expression, typeArguments }) => ({ expression, typeArguments }));
  if (node.superClass) parents.push({ expression: node.superClass });
  return parents.some(({ expression, typeArguments }) => {
    const first = typeArguments?.params[0]?.typeName?.name;
    const target = /^(Omit|Pick|Partial|Readonly|Required)$/.test(expression.name) ? first : expression.name;
    if (["Error", "Promise", "AsyncIterable"].includes(target))
      return ["name", "message", "then", "catch"].includes(name);
    const found = target && findDeclaration(graph, parsed.file, target);
    if (!found) return false;
    const other = graph.get(found.file);
    return other.declarations.get(found.name).some(({ node: parent }) => {
      const own = (parent.body?.body ?? []).find((member) => member.key && memberName(other, member) === name);
      return own ? commentBefore(other, own.start) !== undefined : inherits(graph, other, parent, name);
    });
  });
}
