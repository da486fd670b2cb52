// Declaration files as a graph of names: what each file declares, imports and exports, and what a set of names needs.

import { dirname, resolve } from "node:path";
import { parseSync } from "rolldown/utils";

/** What one declaration file has. Positions are offsets into `text`. */
export function parseDeclarations(file, text) {
  const { program, comments, errors } = parseSync(file, text);
  if (errors[0] !== undefined) throw new Error(`${file}: ${errors[0].message}`);
  const parsed = { file, text, comments, imports: new Map(), exports: new Map(), declarations: new Map() };
  for (const statement of program.body) addStatement(parsed, statement);
  return parsed;
}

function addStatement(parsed, statement) {
  const { type, source, specifiers = [], declaration } = statement;
  const from = source && toFile(parsed.file, source.value);
  if (type === "ImportDeclaration") {
    for (const { local, imported } of specifiers) parsed.imports.set(local.name, { from, name: imported?.name ?? "*" });
    return;
  }
  if (type === "ExportAllDeclaration") throw new Error(`${parsed.file} exports everything of ${source.value}`);
  const declared = declaration ?? statement;
  for (const { local, exported } of specifiers) parsed.exports.set(exported.name, { from, name: local.name });
  for (const name of namesOf(declared)) {
    const { start, end } = statement;
    const known = parsed.declarations.get(name) ?? [];
    parsed.declarations.set(name, [...known, { node: declared, start, end, comment: commentBefore(parsed, start) }]);
    if (declaration) parsed.exports.set(name, { from: null, name });
  }
}

function namesOf(declared) {
  if (declared.type === "VariableDeclaration") return declared.declarations.map(({ id }) => id.name);
  return declared.id ? [declared.id.name] : [];
}

/** The documentation that ends right before this position. Undefined: there is none. */
export function commentBefore({ text, comments }, position) {
  const end = text.slice(0, position).trimEnd().length;
  return comments.find((comment) => comment.end === end && comment.type === "Block" && comment.value.startsWith("*"));
}

/** The declaration file that an import names. Other packages and Node's modules stay as they are. */
export function toFile(from, specifier) {
  if (!specifier.startsWith(".")) return specifier;
  return resolve(dirname(from), specifier).replace(/\.[jt]s$/, ".d.ts");
}

/** Where a name of a file is declared. Null: not in these files. */
export function findDeclaration(graph, file, name) {
  const parsed = graph.get(file);
  if (parsed === undefined) return null;
  if (parsed.declarations.has(name)) return { file, name };
  const next = parsed.imports.get(name) ?? parsed.exports.get(name);
  return next === undefined || next.from === null ? null : findDeclaration(graph, next.from, next.name);
}

/** Every declaration that the exports of the files need, by file: the names, and the imports that they use. */
export function neededBy(graph, entries) {
  const needed = new Map();
  const visit = (file, name) => {
    const parsed = graph.get(file);
    if (parsed === undefined) return;
    const names = needed.get(file) ?? new Set();
    needed.set(file, names);
    if (names.has(name)) return;
    const next = parsed.imports.get(name) ?? (parsed.declarations.has(name) ? undefined : parsed.exports.get(name));
    if (next === undefined && !parsed.declarations.has(name)) return;
    names.add(name);
    if (next !== undefined) visit(next.from ?? file, next.name);
    for (const { node } of parsed.declarations.get(name) ?? []) {
      for (const other of referencesOf(node)) if (other !== name) visit(file, other);
    }
  };
  for (const entry of entries) for (const name of graph.get(entry).exports.keys()) visit(entry, name);
  return needed;
}

/** The identifiers in a declaration that may refer to something outside of it. */
export function referencesOf(node) {
  const found = new Set();
  const walk = (value, key, parent) => {
    if (Array.isArray(value)) for (const item of value) walk(item, key, parent);
    else if (value !== null && typeof value === "object") {
      const isMemberName = key === "key" && parent.computed === false;
      if (value.type === "Identifier" && !isMemberName) found.add(value.name);
      for (const [inner, child] of Object.entries(value)) if (child !== node) walk(child, inner, value);
    }
  };
  walk(node, "", {});
  return found;
}

/** Declarations that those of `seen` refer to, and that are not in it. Keys are "FILE NAME". Sorted by name. */
export function helpersOf(graph, seen) {
  const found = new Map();
  for (const [file, { declarations }] of graph) {
    for (const [name, [{ node }]] of declarations) {
      if (seen.has(`${file} ${name}`)) for (const other of referencesOf(node)) add(file, other);
    }
  }
  return [...found.values()].sort((a, b) => (a.name < b.name ? -1 : 1));

  function add(from, name) {
    const target = findDeclaration(graph, from, name);
    const key = target && `${target.file} ${target.name}`;
    if (target === null || seen.has(key) || found.has(key)) return;
    found.set(key, target);
    for (const { node } of graph.get(target.file).declarations.get(target.name)) {
      for (const other of referencesOf(node)) add(target.file, other);
    }
  }
}
