// Prints a zod schema as a TypeScript declaration: the type of its output, read-only at every level, with descriptions as comments.
//
// Knows the kinds of schemas that src/protocol/ uses and throws for any other, so that no type silently becomes `unknown`.

import { z } from "zod";

/** `nameOf` returns the name of a schema that is declared elsewhere, or undefined. */
export function toTypeScript(name, schema, { nameOf, isCommented }) {
  const comment = isCommented ? "" : toComment(schema, "");
  const nested = (inner, indent) => {
    const named = nameOf(inner) ?? (inner._zod.parent && nameOf(inner._zod.parent));
    return named ?? toType(inner, nested, indent);
  };
  const type = toType(schema, nested, "");
  return schema._zod.def.type === "object"
    ? `${comment}export interface ${name} ${type}`
    : `${comment}export type ${name} = ${type};`;
}

function toType(schema, nested, indent) {
  const { def } = schema._zod;
  switch (def.type) {
    case "string":
    case "number":
    case "boolean":
    case "null":
    case "unknown":
    case "never":
      return def.type;
    case "literal":
      return def.values.map((value) => JSON.stringify(value)).join(" | ");
    case "enum":
      return Object.values(def.entries)
        .map((value) => JSON.stringify(value))
        .join(" | ");
    case "array":
      return `readonly ${toOperand(nested(def.element, indent))}[]`;
    case "object":
      return toObject(def.shape, nested, indent);
    case "record":
      return toRecord(def, nested, indent);
    case "union":
      return def.options.map((option) => toOperand(nested(option, indent))).join(" | ");
    case "intersection":
      return `${toOperand(nested(def.left, indent))} & ${toOperand(nested(def.right, indent))}`;
    case "nullable":
      return `${toOperand(nested(def.innerType, indent))} | null`;
    case "optional":
      return schema instanceof z.ZodExactOptional
        ? nested(def.innerType, indent)
        : `${toOperand(nested(def.innerType, indent))} | undefined`;
    case "default":
    case "catch":
      return nested(def.innerType, indent);
  }
  throw new TypeError(`Cannot print a schema of the kind '${def.type}' as TypeScript`);
}

function toRecord({ keyType, valueType, partial }, nested, indent) {
  const value = nested(valueType, indent);
  if (keyType._zod.def.type === "string") return `{ readonly [key: string]: ${value} }`;
  return `{ readonly [key in ${nested(keyType, indent)}]${partial === true ? "?" : ""}: ${value} }`;
}

function toObject(shape, nested, indent) {
  const inner = `${indent}    `;
  const fields = Object.entries(shape).map(([name, field]) => {
    const mark = field._zod.optout === "optional" ? "?" : "";
    return `${toComment(describe(field), inner)}${inner}readonly ${name}${mark}: ${nested(field, inner)};\n`;
  });
  return `{\n${fields.join("")}${indent}}`;
}

/** A field with one possible value that has no description tells kinds apart. */
function describe(field) {
  if (field.description !== undefined || field._zod.def.type !== "literal") return field;
  return { description: "Which kind it is" };
}

/** In brackets where an operator follows or precedes it. */
function toOperand(type) {
  return /^[\w"-]+$|^\{[^]*\}$/.test(type) ? type : `(${type})`;
}

function toComment({ description }, indent) {
  return description === undefined ? "" : `${indent}/** ${description.replaceAll("*/", "*\\/")}. */\n`;
}
