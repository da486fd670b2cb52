// The OpenAPI description as an HTML page, without scripts and external resources, so that a strict Content-Security-Policy applies.

import { createHash } from "node:crypto";
import { PAGE_STYLE } from "./page-style.ts";
import { code, escapeHTML, prose, toFields, toTypeText, type JSONSchema } from "./schema-html.ts";

interface Content {
  readonly schema?: JSONSchema;
}

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly description?: string;
  readonly schema: JSONSchema;
}

interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly tags: readonly string[];
  readonly security?: readonly unknown[];
  readonly parameters: readonly Parameter[];
  readonly requestBody?: { readonly description?: string; readonly content: Readonly<Record<string, Content>> };
  readonly responses: Readonly<Record<string, Answer>>;
}

interface Answer {
  readonly description: string;
  readonly content?: Readonly<Record<string, Content>>;
}

interface Document {
  readonly info: { readonly title: string; readonly version: string; readonly description: string };
  readonly tags: readonly { readonly name: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, JSONSchema>> };
}

interface Endpoint {
  readonly method: string;
  readonly path: string;
  readonly operation: Operation;
}

const PROBLEM_TYPE = "application/problem+json";

/** Allows the inline style only: nothing is loaded, sent or framed. */
export const PAGE_POLICY = `default-src 'none'; style-src 'sha256-${createHash("sha256").update(PAGE_STYLE).digest("base64")}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;

/** `description`: OpenAPI, as `createOpenAPI` makes it. */
export function createPage(description: object): string {
  const { info, tags, paths, components } = description as Document;
  const endpoints = Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]): Endpoint => ({
      method: method.toUpperCase(),
      path,
      operation,
    })),
  );
  const groups = tags.map(({ name }) => ({
    name,
    own: endpoints.filter(({ operation }) => operation.tags[0] === name),
  }));
  const schemas = Object.entries(components.schemas).sort(([a], [b]) => (a < b ? -1 : 1));
  return [
    `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${escapeHTML(info.title)}: HTTP</title>`,
    `<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark">`,
    `<style>${PAGE_STYLE}</style></head><body>`,
    `<nav aria-label="Contents"><p class="title"><a href="#top">${escapeHTML(info.title)}</a></p>`,
    ...groups.map(toContents),
    `<h2><a href="#schemas">Schemas</a></h2></nav>`,
    `<main id="top"><h1>${escapeHTML(info.title)} <small>${escapeHTML(info.version)}</small></h1><p>${prose(info.description)}</p>`,
    `<p>Every route requires the header ${code("Authorization: Bearer TOKEN")} unless it says otherwise. The OpenAPI document is at ${code("/v1/openapi.json")}.</p>`,
    ...groups.map(
      ({ name, own }) => `<h2 id="${toAnchor(name)}">${escapeHTML(name)}</h2>${own.map(toSection).join("")}`,
    ),
    `<h2 id="schemas">Schemas</h2>`,
    ...schemas.map(([id, schema]) => toSchema(id, schema)),
    "</main></body></html>",
  ].join("\n");
}

function toContents({ name, own }: { readonly name: string; readonly own: readonly Endpoint[] }): string {
  const items = own.map(
    ({ method, path, operation }) =>
      `<li><a href="#${operation.operationId}"><b class="${method.toLowerCase()}">${method}</b> ${toPath(path)}</a></li>`,
  );
  return `<h2><a href="#${toAnchor(name)}">${escapeHTML(name)}</a></h2><ul>${items.join("")}</ul>`;
}

function toSection({ method, path, operation }: Endpoint): string {
  const { operationId, summary, description, security, parameters, requestBody, responses } = operation;
  const answers = Object.entries(responses).filter(([, answer]) => !isProblem(answer));
  const problems = Object.entries(responses).filter(([, answer]) => isProblem(answer));
  return [
    `<section id="${operationId}"><h3><a href="#${operationId}"><b class="${method.toLowerCase()}">${method}</b> ${toPath(path)}</a></h3>`,
    `<p class="summary">${prose(summary)}${security?.length === 0 ? " <em>No token.</em>" : ""}</p>`,
    description === undefined ? "" : `<p>${prose(description)}</p>`,
    parameters.length === 0 ? "" : `<h4>Parameters</h4><dl>${parameters.map(toParameter).join("")}</dl>`,
    requestBody === undefined ? "" : `<h4>Body</h4>${toContent(requestBody.content, requestBody.description)}`,
    "<h4>Responses</h4><dl>",
    ...answers.map(
      ([status, answer]) => `<dt>${code(status)}</dt><dd>${toContent(answer.content, answer.description)}</dd>`,
    ),
    "</dl>",
    problems.length === 0 ? "" : `<details><summary>Problems ${toStatuses(problems)}</summary><dl>`,
    ...problems.map(([status, answer]) => `<dt>${code(status)}</dt><dd><p>${prose(answer.description)}</p></dd>`),
    problems.length === 0 ? "" : "</dl></details>",
    "</section>",
  ].join("");
}

function isProblem({ content = {} }: Answer): boolean {
  return Object.keys(content).join(" ") === PROBLEM_TYPE;
}

function toStatuses(answers: readonly (readonly [string, Answer])[]): string {
  return answers.map(([status]) => code(status)).join(" ");
}

function toParameter({ name, in: location, required = false, description, schema }: Parameter): string {
  const facts = [location, ...(required ? [] : ["optional"])].join(", ");
  const text = description === undefined ? "" : `<p>${prose(description)}</p>`;
  return `<dt>${code(name)} <span class="type">${toTypeText(schema)}</span> <small>${facts}</small></dt><dd>${text}</dd>`;
}

function toContent(content: Readonly<Record<string, Content>> = {}, description = ""): string {
  const types = Object.entries(content).map(([type, { schema }]) =>
    schema === undefined ? code(type) : `${code(type)} <span class="type">${toTypeText(schema)}</span>`,
  );
  const text = description === "" ? "" : prose(description);
  return `<p>${[text, types.join(" or ")].filter((part) => part !== "").join(": ")}</p>`;
}

function toSchema(id: string, schema: JSONSchema): string {
  const { description } = schema;
  const text = description === undefined ? "" : `<p>${prose(description)}</p>`;
  const fields = toFields(schema);
  const whole = fields === "" ? `<p><span class="type">${toTypeText(schema)}</span></p>` : fields;
  return `<section id="schema-${id}"><h3><a href="#schema-${id}">${escapeHTML(id)}</a></h3>${text}${whole}</section>`;
}

/** Lines may break after a slash. */
function toPath(path: string): string {
  return `<code>${escapeHTML(path).replaceAll("/", "/<wbr>")}</code>`;
}

function toAnchor(tag: string): string {
  return `tag-${tag.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-")}`;
}
