// The type declarations of a release, dist/types/: what index.d.ts reaches, without zod, which users do not install.
//
// In src/protocol/ a type is written `export type Thing = Shape<typeof thing>`, where `thing` is a zod schema. TypeScript emits that line
// as it is. Here it becomes a plain interface, printed from the schema, with the descriptions as comments.

import { execFileSync } from "node:child_process";
import { readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { isBuiltin } from "node:module";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseSync } from "rolldown/utils";
import { importSources } from "./import-sources.mjs";
import { toTypeScript } from "./schema-to-typescript.mjs";

const FOLDER = resolve("dist/types");
const SHAPE = /^Shape<typeof (\w+)>$/;

export async function writeDeclarations() {
  const tsc = join(dirname(fileURLToPath(import.meta.resolve("typescript/package.json"))), "bin/tsc");
  execFileSync(process.execPath, [tsc, "-p", "tsconfig.build.json"], { stdio: "inherit" });
  const files = new Map(emittedFiles().map((file) => [file, parseFile(file)]));
  const schemas = await loadSchemas(files);
  for (const [file, parsed] of files) files.set(file, parseText(file, withoutSchemas(file, parsed, schemas)));
  const reached = reachableFrom(join(FOLDER, "index.d.ts"), files);
  for (const [file, { text, imports }] of files) {
    if (!reached.has(file)) rmSync(file);
    else {
      const foreign = imports.find(({ from }) => !from.startsWith(".") && !isBuiltin(from));
      if (foreign !== undefined)
        throw new Error(`${relative(FOLDER, file)} imports '${foreign.from}', which users lack`);
      if (/\bz\.\w+</.test(text))
        throw new Error(`${relative(FOLDER, file)} has a type of zod: write Shape<typeof ...>`);
      writeFileSync(file, text);
    }
  }
}

function emittedFiles() {
  const entries = readdirSync(FOLDER, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
}

function parseFile(file) {
  return parseText(file, readFileSync(file, "utf8"));
}

/** Imports with their specifiers, schema constants, and the exported types with their texts. */
function parseText(file, text) {
  const { program, errors } = parseSync(file, text);
  if (errors[0] !== undefined) throw new Error(`${file}: ${errors[0].message}`);
  const parsed = { text, imports: [], constants: [], types: new Map() };
  for (const statement of program.body) {
    const { start, end, source } = statement;
    if (source) parsed.imports.push({ start, end, from: source.value });
    const declared = statement.declaration ?? statement;
    const isSchema = declared.type === "VariableDeclaration" && /\bz\.Zod/.test(text.slice(start, end));
    if (isSchema) parsed.constants.push({ start, end, names: declared.declarations.map(({ id }) => id.name) });
    if (declared.type === "TSTypeAliasDeclaration" || declared.type === "TSInterfaceDeclaration") {
      const { typeAnnotation } = declared;
      const alias = typeAnnotation && text.slice(typeAnnotation.start, typeAnnotation.end);
      parsed.types.set(declared.id.name, { start, end, schema: SHAPE.exec(alias ?? "")?.[1] });
    }
  }
  // Types in place: import("./x.ts").X
  for (const [, from] of text.matchAll(/\bimport\("([^"]+)"\)/g)) parsed.imports.push({ start: 0, end: 0, from });
  return parsed;
}

/** The schemas of src/protocol/: the modules by file, and the type that a schema is published as. */
async function loadSchemas(files) {
  const protocol = [...files.keys()].filter((file) => relative(FOLDER, file).startsWith("protocol/"));
  const modules = await importSources(protocol.map((file) => relative(FOLDER, file).replace(/\.d\.ts$/, "")));
  const schemas = { modules: new Map(), types: new Map() };
  const all = Object.assign({}, ...modules);
  protocol.forEach((file, index) => {
    schemas.modules.set(file, modules[index]);
    for (const [type, { schema }] of files.get(file).types) {
      // A branded id has a type of its own, written by hand, and a schema of the same name.
      const constant =
        schema === undefined ? all[type.replace(/^./, (first) => first.toLowerCase())] : modules[index][schema];
      if (constant?._zod !== undefined) schemas.types.set(constant, { name: type, file });
    }
  });
  return schemas;
}

/** The text of a declaration file with its schemas replaced by types. Files outside protocol/ stay as they are: nothing public has any. */
function withoutSchemas(file, { text, imports, constants, types }, schemas) {
  const own = [...types].filter(([, { schema }]) => schema !== undefined);
  const constantsByName = schemas.modules.get(file);
  if (constantsByName === undefined || (own.length === 0 && constants.length === 0)) return text;
  const wanted = new Map();
  const nameOf = (schema) => {
    const published = schemas.types.get(schema);
    if (published !== undefined && published.file !== file) wanted.set(published.name, published.file);
    return published?.name;
  };
  const replacements = own.map(([name, { start, end, schema }]) => {
    const constant = constantsByName[schema];
    if (constant === undefined)
      throw new Error(`${relative(FOLDER, file)} does not export the schema '${schema}' of ${name}`);
    const isCommented = text.slice(0, start).trimEnd().endsWith("*/");
    return { start, end, with: toTypeScript(name, constant, { nameOf, isCommented }) };
  });
  const removed = [...constants, ...imports.filter(({ from }) => from === "zod" || from.endsWith("/shape.ts"))];
  for (const { start, end } of removed) replacements.push({ start: startOfComment(text, start), end, with: "" });
  let result = text;
  for (const { start, end, with: replacement } of replacements.sort((a, b) => b.start - a.start)) {
    result = result.slice(0, start) + replacement + result.slice(end);
  }
  const imported = imports.map(({ start, end }) => text.slice(start, end)).join("");
  const added = [...wanted]
    .filter(([name]) => !new RegExp(`\\b${name}\\b`).test(imported))
    .map(([name, from]) => `import type { ${name} } from "${toSpecifier(file, from)}";\n`);
  return added.join("") + result.replaceAll(/\n{2,}/g, "\n").trimStart();
}

/** Where the comment begins that belongs to what is at `start`. */
function startOfComment(text, start) {
  return /\/\*\*(?:(?!\*\/)[^])*\*\/\s*$/.exec(text.slice(0, start))?.index ?? start;
}

function toSpecifier(from, to) {
  const path = relative(dirname(from), to).replace(/\.d\.ts$/, ".ts");
  return path.startsWith(".") ? path : `./${path}`;
}

function reachableFrom(file, files, reached = new Set()) {
  if (reached.has(file)) return reached;
  reached.add(file);
  for (const { from } of files.get(file).imports) {
    if (from.startsWith(".")) reachableFrom(resolve(dirname(file), from.replace(/\.ts$/, ".d.ts")), files, reached);
  }
  return reached;
}
