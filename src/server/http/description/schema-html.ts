// A JSON Schema as HTML: its type in a few words, and its fields as a list.

export interface JSONSchema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly default?: unknown;
  readonly anyOf?: readonly JSONSchema[];
  readonly oneOf?: readonly JSONSchema[];
  readonly items?: JSONSchema;
  readonly properties?: Readonly<Record<string, JSONSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | JSONSchema;
  readonly minimum?: number;
  readonly exclusiveMinimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly format?: string;
}

/** Deeper fields are left out. */
const MAX_DEPTH = 6;

export function escapeHTML(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

export function code(text: string): string {
  return `<code>${escapeHTML(text)}</code>`;
}

/** A sentence in which backticks mark code. */
export function prose(text: string): string {
  return escapeHTML(text).replaceAll(/`([^`]+)`/g, "<code>$1</code>");
}

/** Such as `string or null`, with links to schemas that have a name. */
export function toTypeText(schema: JSONSchema): string {
  if (schema.$ref !== undefined) return toLink(schema.$ref);
  if (schema.const !== undefined) return code(JSON.stringify(schema.const));
  if (schema.enum !== undefined) return schema.enum.map((value) => code(JSON.stringify(value))).join(" or ");
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices !== undefined) return [...new Set(choices.map(toTypeText))].join(" or ");
  if (schema.type === "array") return schema.items === undefined ? "array" : `array of ${toTypeText(schema.items)}`;
  const { additionalProperties } = schema;
  if (schema.type === "object" && typeof additionalProperties === "object" && schema.properties === undefined) {
    return `object of ${toTypeText(additionalProperties) || "any"}`;
  }
  const names = typeof schema.type === "string" ? [schema.type] : (schema.type ?? ["any"]);
  return [names.map((name) => escapeHTML(name)).join(" or "), ...toLimits(schema)].join(", ");
}

/** Empty for a schema without fields. */
export function toFields(schema: JSONSchema, depth = 0): string {
  const inner = schema.properties === undefined ? innerOf(schema) : schema;
  const { properties = {}, required = [] } = inner ?? {};
  const names = Object.keys(properties);
  if (names.length === 0 || depth > MAX_DEPTH) return "";
  const fields = names.map((name) => {
    const field = properties[name] ?? {};
    const facts = [...(required.includes(name) ? [] : ["optional"]), ...toDefault(field)].join(", ");
    const text = field.description === undefined ? "" : `<p>${prose(field.description)}</p>`;
    const type = `<span class="type">${toTypeText(field)}</span>`;
    return `<dt>${code(name)} ${type} <small>${facts}</small></dt><dd>${text}${toFields(field, depth + 1)}</dd>`;
  });
  return `<dl>${fields.join("")}</dl>`;
}

/** The object in an array, or in a union with null. */
function innerOf({ items, anyOf, oneOf }: JSONSchema): JSONSchema | undefined {
  if (items !== undefined) return items.properties === undefined ? undefined : items;
  return (anyOf ?? oneOf)?.find(({ properties }) => properties !== undefined);
}

function toDefault({ default: value }: JSONSchema): string[] {
  return value === undefined ? [] : [`default ${code(JSON.stringify(value))}`];
}

/** Without limits that all numbers in JSON have. */
function toLimits(schema: JSONSchema): string[] {
  const { minimum, exclusiveMinimum, maximum, minLength, maxLength, format } = schema;
  return [
    ...(format === undefined ? [] : [escapeHTML(format)]),
    ...(minimum !== undefined && minimum > Number.MIN_SAFE_INTEGER ? [`at least ${minimum}`] : []),
    ...(exclusiveMinimum === undefined ? [] : [`more than ${exclusiveMinimum}`]),
    ...(maximum !== undefined && maximum < Number.MAX_SAFE_INTEGER ? [`at most ${maximum}`] : []),
    ...(minLength === undefined ? [] : [`at least ${minLength} characters`]),
    ...(maxLength === undefined ? [] : [`at most ${maxLength} characters`]),
  ];
}

function toLink(reference: string): string {
  const id = escapeHTML(reference.slice(reference.lastIndexOf("/") + 1));
  return `<a href="#schema-${id}">${id}</a>`;
}
