// What a browser loads of the package: it must need nothing of Node's, and the client must stay small.

import { writeFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { Visitor, minifySync, parseSync } from "rolldown/utils";

/** As it is shipped, after gzip. */
const MAX_BYTES = { "client.js": 30_000 };
const NODE_GLOBALS = new Set([
  "Buffer",
  "process",
  "require",
  "module",
  "__dirname",
  "__filename",
  "setImmediate",
  "global",
]);

/**
 * Throws if the entry, or a chunk that it loads, uses Node, or if they are too large together. In a release, removes the white space of what
 * has a limit, and prints the size.
 */
export function checkBrowserBundle(chunks, entry, { release }) {
  const loaded = loadedBy(chunks, entry);
  const problems = loaded.flatMap(({ fileName, imports, globals }) => [
    ...imports.filter((from) => !from.startsWith("./")).map((from) => `${fileName} imports ${from}`),
    ...globals.map((name) => `${fileName} uses ${name}`),
  ]);
  if (problems.length > 0) throw new Error(`dist/${entry} cannot be loaded by a browser:\n  ${problems.join("\n  ")}`);
  if (!release) return;
  const limit = MAX_BYTES[entry] ?? Infinity;
  let size = 0;
  for (const { fileName, code } of loaded) {
    const shipped = limit === Infinity ? code : withoutSpace(fileName, code);
    if (shipped !== code) writeFileSync(`dist/${fileName}`, shipped);
    size += gzipSync(shipped, { level: 9 }).length;
  }
  process.stderr.write(`dist/${entry} is ${(size / 1000).toFixed(1)} kB with all that it loads (gzip)\n`);
  if (size > limit) throw new Error(`dist/${entry} is larger than ${limit / 1000} kB`);
}

function withoutSpace(fileName, code) {
  const { code: shorter, errors } = minifySync(fileName, code, {
    module: true,
    mangle: { keepNames: { class: true, function: false } }, // logs show the names of errors
    codegen: { removeWhitespace: true },
  });
  if (errors[0] !== undefined) throw new Error(`${fileName}: ${errors[0].message}`);
  return shorter;
}

/** The chunk and everything that it imports, now or later. */
function loadedBy(chunks, entry) {
  const loaded = new Map();
  const load = (name) => {
    if (loaded.has(name)) return;
    const { fileName, code } = chunks.find((chunk) => chunk.fileName === name);
    const chunk = { fileName, code, ...readChunk(fileName, code) };
    loaded.set(name, chunk);
    for (const from of chunk.imports) if (from.startsWith("./")) load(from.slice(2));
  };
  load(entry);
  return [...loaded.values()];
}

/** What a chunk imports, and the globals of Node's that it uses without declaring them. `typeof process` alone is a question, and allowed. */
function readChunk(fileName, code) {
  const { program, errors } = parseSync(fileName, code);
  if (errors[0] !== undefined) throw new Error(`${fileName}: ${errors[0].message}`);
  const imports = new Set();
  const used = new Set();
  const declared = new Set();
  const notUses = new Set();
  const addSource = ({ source }) => source && imports.add(source.value);
  new Visitor({
    ImportDeclaration: addSource,
    ExportNamedDeclaration: addSource,
    ExportAllDeclaration: addSource,
    ImportExpression: ({ source }) => imports.add(source.value ?? source.quasis?.[0].value.cooked ?? "(computed)"),
    MemberExpression: ({ property, computed }) => computed || notUses.add(property),
    Property: ({ key, computed, shorthand }) => computed || shorthand || notUses.add(key),
    MethodDefinition: ({ key, computed }) => computed || notUses.add(key),
    PropertyDefinition: ({ key, computed }) => computed || notUses.add(key),
    UnaryExpression: ({ operator, argument }) => operator === "typeof" && notUses.add(argument),
    VariableDeclarator: ({ id }) => declared.add(id.name),
    FunctionDeclaration: ({ id, params }) => [id, ...params].forEach((one) => declared.add(one?.name)),
    FunctionExpression: ({ params }) => params.forEach(({ name }) => declared.add(name)),
    ArrowFunctionExpression: ({ params }) => params.forEach(({ name }) => declared.add(name)),
    Identifier: (node) => NODE_GLOBALS.has(node.name) && used.add(node),
  }).visit(program);
  const globals = [...used].filter((node) => !notUses.has(node) && !declared.has(node.name)).map(({ name }) => name);
  return { imports: [...imports], globals: [...new Set(globals)] };
}
