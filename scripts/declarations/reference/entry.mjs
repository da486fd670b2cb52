// One public name in the reference: its comment, its signature, its members.

import { withoutComments } from "../check.mjs";
import { commentBefore, referencesOf } from "../graph.mjs";
import { wrap, wrapCode } from "./markdown.mjs";

/** `linkTo(file, name)` returns the link to a name that a file refers to, or undefined. */
export function toEntry(parsed, name, linkTo) {
  const declared = parsed.declarations.get(name);
  const [{ node, comment }] = declared;
  const link = (other) => linkTo(parsed.file, other);
  const text = [wrap(explain(comment, link, name))];
  if (isObject(node)) {
    const parents = toParents(parsed, node, link);
    if (parents !== "") text.push(wrap(`Extends ${parents}.`));
    text.push(toItems(parsed, membersOf(node), { link, name, parents }));
  }
  if (!isObject(node)) text.push(toCode(parsed, declared), wrap(typesOf(node, { link, name })));
  return text.filter(Boolean).join("\n\n");
}

/** A constant in one line of a list. */
export function toValue(parsed, name, linkTo) {
  const [{ node, comment }] = parsed.declarations.get(name);
  const link = (other) => linkTo(parsed.file, other);
  const type = node.declarations[0].id.typeAnnotation;
  const signature = type ? `: ${toText(parsed, type.typeAnnotation)}` : "";
  const said = explain(comment, link, name);
  const types = typesOf(node, { link, name, comment: said });
  return wrap(`\`${name}${signature}\`: ${said}${types && ` ${types}`}`, ITEM);
}

const ITEM = { first: "- ", rest: "  " };

export function isConstant({ type }) {
  return type === "VariableDeclaration";
}

/** How near to the top of its group a name belongs: functions, values, objects with methods, errors, data. */
export function rankOf(node) {
  if (node.type.includes("Function")) return 0;
  if (isConstant(node)) return 1;
  if (node.type === "ClassDeclaration") return node.abstract ? 2 : 3;
  return isObject(node) && membersOf(node).some(isMethod) ? 2 : 4;
}

function isObject({ type }) {
  return type === "TSInterfaceDeclaration" || type === "ClassDeclaration";
}

function membersOf({ body }) {
  return body.body.filter(({ key, kind, computed }) => key !== undefined && !computed && kind !== "constructor");
}

function isMethod({ type }) {
  return type === "TSMethodSignature" || type === "MethodDefinition";
}

/** The text of a comment, with links to the names in it that are written like one. */
function explain(comment, link, own) {
  if (comment === undefined) return "";
  const text = comment.value
    .replaceAll(/^\s*\* ?/gm, "")
    .replace(/^\*/, "")
    .trim();
  return text.replaceAll(/(`[^`]*`)|\b[A-Z][a-z]*[A-Z]\w*\b/g, (word, code) => {
    const target = code === undefined && word !== own ? link(word) : undefined;
    return target === undefined ? word : `[${word}](${target})`;
  });
}

/** What an interface or a class extends. Empty: nothing. */
function toParents(parsed, node, link) {
  const clauses = (node.type === "ClassDeclaration" ? [node.superClass] : (node.extends ?? [])).filter(Boolean);
  const parents = clauses.map((clause) => {
    const text = toText(parsed, clause);
    const target = link(text);
    return target === undefined ? `\`${text}\`` : `[\`${text}\`](${target})`;
  });
  return parents.join(", ");
}

/** Members as a list, and in it the fields of the object types in their types. `parents` explain what has no comment. */
function toItems(parsed, members, { link, name, parents = "" }, indent = "") {
  const items = members.map((member) => {
    const comment = explain(commentBefore(parsed, member.start), link, name);
    const inherited = comment === "" && member.type.startsWith("TS") && parents !== "" ? `As in ${parents}.` : "";
    const types = typesOf(member, { link, name, comment });
    const said = [comment || inherited, types].filter(Boolean).join(" ");
    const item = wrap(`\`${toSignature(parsed, member)}\`${said && `: ${said}`}`, {
      first: `${indent}- `,
      rest: `${indent}  `,
    });
    const inner = literalsIn(member).flatMap(({ members: fields }) => fields.filter((field) => field.key));
    const explained = inner.filter((field) => commentBefore(parsed, field.start) !== undefined);
    return explained.length === 0 ? item : `${item}\n${toItems(parsed, explained, { link, name }, `${indent}  `)}`;
  });
  return items.join("\n");
}

/** The object types in the type of a property; those in them are found from them. */
function literalsIn({ typeAnnotation }) {
  const found = [];
  const walk = (value) => {
    if (Array.isArray(value)) value.forEach(walk);
    else if (value !== null && typeof value === "object") {
      if (value.type === "TSTypeLiteral") found.push(value);
      else for (const child of Object.values(value)) walk(child);
    }
  };
  walk(typeAnnotation);
  return found;
}

function toSignature(parsed, member) {
  const text = toText(parsed, member).replace(/;$/, "");
  return member.optional ? text.replace(/ \| undefined$/, "") : text;
}

/** In one line, without comments and without `readonly`, which everything is. */
function toText(parsed, { start, end }) {
  return withoutComments(parsed, start, end)
    .replaceAll(/\s+/g, " ")
    .replaceAll(/\breadonly (?=[\w"'~[]+[\]?"']*\??:|\w+ =)/g, "")
    .replaceAll("; }", " }")
    .replace(/^abstract /, "")
    .trim();
}

function toCode(parsed, declared) {
  const texts = declared.map(({ start, end }) =>
    parsed.text
      .slice(start, end)
      .replace(/^export (?:declare )?/, "")
      .replaceAll(/^ +/gm, (indent) => " ".repeat(Math.floor(indent.length / 4) * 2 + (indent.length % 4))),
  );
  return `\`\`\`ts\n${wrapCode(texts.join("\n"))}\n\`\`\``;
}

/** Links to the types that a declaration or a member refers to, without those in its comment. */
function typesOf(node, { link, name, comment = "" }) {
  const names = [...referencesOf(node)].filter((other) => other !== name && link(other) !== undefined);
  const links = names.map((other) => `[${other}](${link(other)})`).filter((one) => !comment.includes(one));
  return links.length === 0 ? "" : `(${links.join(", ")})`;
}
