// The type declarations of a release: what the entries of the package need, name by name, without zod, which users do not install, and
// without a type of Node's.
//
// In src/protocol/ a type is written `export type Thing = Shape<typeof thing>`, where `thing` is a zod schema. TypeScript emits that line
// as it is. Here it becomes a plain interface, printed from the schema, with the descriptions as comments.

import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { ENTRIES } from "../entries.mjs";
import { importSources } from "../import-sources.mjs";
import { checkDeclarations } from "./check.mjs";
import { neededBy, parseDeclarations } from "./graph.mjs";
import { toTypeScript } from "./schema-to-typescript.mjs";

const SHAPE = /^Shape<typeof (\w+)>$/;
/** What the declarations use beyond ES5. Compilers load it whatever the project's `lib` is. */
const LIBRARIES = [
  "es2015",
  "es2018.asynciterable",
  "es2018.promise",
  "es2021.promise",
  "es2022.error",
  "esnext.disposable",
];

/** Writes them into a folder, which is replaced. Throws where they contain what users must not see, or lack. */
export async function writeDeclarations(folder = "dist/types") {
  const root = resolve(folder);
  const emitted = emit(root);
  const withoutSchemas = await replaceSchemas(root, emitted);
  const graph = new Map([...withoutSchemas].map(([file, text]) => [file, parseDeclarations(file, text)]));
  const entries = ENTRIES.map(({ types }) => join(root, types));
  const needed = neededBy(graph, entries);
  rmSync(root, { recursive: true });
  const written = new Map();
  for (const [file, names] of needed) {
    const isEntry = entries.includes(file);
    written.set(
      file,
      parseDeclarations(file, isEntry ? entryText(graph.get(file)) : prunedText(graph.get(file), names)),
    );
  }
  checkDeclarations(written, { root, entries });
  for (const [file, { text }] of written) {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
  return { graph: written, root };
}

/** What TypeScript emits, by file. */
function emit(root) {
  const tsc = join(dirname(fileURLToPath(import.meta.resolve("typescript/package.json"))), "bin/tsc");
  execFileSync(process.execPath, [tsc, "-p", "tsconfig.build.json", "--outDir", root], { stdio: "inherit" });
  const entries = readdirSync(root, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const files = entries.map(({ parentPath, name }) => join(parentPath, name));
  return new Map(files.map((file) => [file, readFileSync(file, "utf8")]));
}

/** The texts with schemas replaced by types. Files outside protocol/ stay as they are: nothing public has any. */
async function replaceSchemas(root, texts) {
  const files = [...texts.keys()].filter((file) => relative(root, file).startsWith("protocol/"));
  const parsed = new Map(files.map((file) => [file, parseDeclarations(file, texts.get(file))]));
  const names = files.map((file) => relative(root, file).replace(/\.d\.ts$/, ""));
  const modules = await importSources(names);
  const all = Object.assign({}, ...modules);
  const values = new Map(files.map((file, index) => [file, modules[index]]));
  /** The type that a schema is published as. */
  const types = new Map();
  for (const [file, { text, declarations }] of parsed) {
    for (const [name, [{ node }]] of declarations) {
      if (!/^TS(TypeAlias|Interface)Declaration$/.test(node.type)) continue;
      const shape = shapeOf(text, node);
      // A branded id has a type of its own, written by hand, and a schema of the same name.
      const schema =
        shape === undefined ? all[name.replace(/^./, (first) => first.toLowerCase())] : values.get(file)[shape];
      if (schema?._zod !== undefined) types.set(schema, { name, file });
    }
  }
  const replaced = new Map(texts);
  for (const [file, one] of parsed) replaced.set(file, withTypes(one, { values: values.get(file), types }));
  return replaced;
}

/** The name of the schema that a type is the shape of. Undefined: it is another type. */
function shapeOf(text, { typeAnnotation }) {
  return typeAnnotation && SHAPE.exec(text.slice(typeAnnotation.start, typeAnnotation.end))?.[1];
}

function withTypes({ file, text, declarations, imports }, { values, types }) {
  const wanted = new Map();
  const nameOf = (schema) => {
    const published = types.get(schema);
    if (published !== undefined && published.file !== file) wanted.set(published.name, published.file);
    return published?.name;
  };
  const replacements = [];
  for (const [name, [{ node, start, end, comment }]] of declarations) {
    const shape = shapeOf(text, node);
    if (shape === undefined) continue;
    if (values[shape] === undefined) throw new Error(`${file} does not export the schema '${shape}' of ${name}`);
    replacements.push({
      start,
      end,
      with: toTypeScript(name, values[shape], { nameOf, isCommented: comment !== undefined }),
    });
  }
  let result = text;
  for (const { start, end, with: replacement } of replacements.sort((a, b) => b.start - a.start)) {
    result = result.slice(0, start) + replacement + result.slice(end);
  }
  const added = [...wanted]
    .filter(([name]) => !imports.has(name))
    .map(([name, from]) => `import type { ${name} } from "${toSpecifier(file, from)}";\n`);
  return added.join("") + result;
}

/** A file with the declarations and imports that are needed. */
function prunedText(parsed, names) {
  const bySource = new Map();
  for (const [local, { from, name }] of parsed.imports) {
    if (!names.has(local)) continue;
    const specifier = from.startsWith("/") ? toSpecifier(parsed.file, from) : from;
    bySource.set(specifier, [...(bySource.get(specifier) ?? []), local === name ? name : `${name} as ${local}`]);
  }
  const imports = [...bySource].map(([from, specifiers]) => `import type { ${specifiers.join(", ")} } from "${from}";`);
  const kept = [...parsed.declarations].filter(([name]) => names.has(name)).flatMap(([, declared]) => declared);
  const texts = kept
    .sort((a, b) => a.start - b.start)
    .map(({ start, end, comment }) => parsed.text.slice(comment?.start ?? start, end));
  return `${[...imports, ...texts].join("\n")}\nexport {};\n`;
}

function entryText({ file, text }) {
  const references = LIBRARIES.map((name) => `/// <reference lib="${name}" />\n`).join("");
  const specified = text.replaceAll(/(from ")(\.[^"]+)\.ts"/g, '$1$2.js"');
  if (/\bimport\("/.test(specified)) throw new Error(`${file} has a type that is imported in place: annotate it`);
  return references + specified;
}

function toSpecifier(from, to) {
  const path = relative(dirname(from), to).replace(/\.d\.ts$/, ".js");
  return path.startsWith(".") ? path : `./${path}`;
}
