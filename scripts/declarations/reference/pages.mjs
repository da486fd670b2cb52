// The API reference, docs/reference/: a page per entry of the package, made from the declarations and their comments.
//
// A name is explained on the page of the first entry that exports it. Groups are those of the entry's source: a comment before its exports.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ENTRIES } from "../../entries.mjs";
import { findDeclaration, helpersOf } from "../graph.mjs";
import { isConstant, rankOf, toEntry, toValue } from "./entry.mjs";
import { createAnchors, wrap } from "./markdown.mjs";

const MADE = "<!-- Made by `npm run api` from the declarations of the package; not edited by hand. -->";
const OTHERS = "Other types";

/** By the name of the file: its text. */
export function toReference({ graph, root }) {
  const pages = collectPages(graph, root);
  const places = placesOf(pages);
  const texts = pages.map((page) => [page.file, toPage(graph, page, places)]);
  return new Map([["README.md", toIndex(pages, graph)], ...texts]);
}

/** The pages with their groups, in order: which names are explained there, and which elsewhere. */
function collectPages(graph, root) {
  const seen = new Map();
  return ENTRIES.map(({ name: entry, types, source }) => {
    const file = join(root, types);
    const page = { entry, file: `${entry.replace("rlm-runtime/", "")}.md`, groups: [], shared: [] };
    const titled = groupsOf(source, [...graph.get(file).exports.keys()]);
    for (const { title, about, names } of titled) {
      const own = [];
      for (const name of names) {
        const target = findDeclaration(graph, file, name);
        const key = keyOf(target);
        if (seen.has(key)) page.shared.push({ name, key });
        else own.push({ name, ...target, key, ...graph.get(target.file).declarations.get(target.name)[0] });
        seen.set(key, true);
      }
      if (own.length > 0) page.groups.push({ title, about, names: sorted(own) });
    }
    const helpers = helpersOf(graph, seen).map((target) => ({ ...target, key: keyOf(target) }));
    for (const { key } of helpers) seen.set(key, true);
    if (helpers.length > 0) {
      const about = "Names in the declarations above that the package does not export.";
      page.groups.push({ title: OTHERS, about, names: helpers });
    }
    return page;
  });
}

/** The groups in the source of an entry: a comment such as "// Errors: what a promise rejects with.", and the exports after it. */
function groupsOf(source, exported) {
  const groups = [];
  const left = new Set(exported);
  for (const part of readFileSync(source, "utf8").split(/\n\n(?=\/\/ )/)) {
    const { title, about } = /^\/\/ (?<title>[^:.]+)[:.]\s*(?<about>.*)\n(?:export|\/\*\*)/.exec(part)?.groups ?? {};
    if (title === undefined) continue;
    const lists = [...part.matchAll(/^export (?:type )?\{(?<list>[^}]*)\}/gm)].map(({ groups: { list } }) => list);
    const listed = lists.flatMap((list) => list.match(/\w+(?=\s*(?:,|$))/g) ?? []);
    const declared = part.match(/(?<=^export (?:const|function) )\w+/gm) ?? [];
    const names = [...listed, ...declared].filter((name) => left.has(name));
    for (const name of names) left.delete(name);
    groups.push({ title, about: about && `${about[0].toUpperCase()}${about.slice(1)}`, names });
  }
  if (left.size > 0) throw new Error(`${source} has no comment before the exports of ${[...left].join(", ")}`);
  return groups;
}

/** The order within a rank is that of the source. */
function sorted(names) {
  return names.toSorted((a, b) => rankOf(a.node) - rankOf(b.node));
}

function keyOf({ file, name }) {
  return `${file} ${name}`;
}

/** Where each name is explained: the page and the anchor. Also sets the anchors of the groups. */
function placesOf(pages) {
  const places = new Map();
  for (const page of pages) {
    const toAnchor = createAnchors();
    toAnchor(page.entry);
    for (const group of page.groups) {
      group.anchor = toAnchor(group.title);
      const values = group.names.filter((one) => isListed(one, group));
      for (const { key } of values) places.set(key, { page: page.file, anchor: group.anchor });
      for (const one of group.names.filter((other) => !values.includes(other)))
        places.set(one.key, { page: page.file, anchor: toAnchor(one.name) });
    }
  }
  return places;
}

/** Constants of which there are many are a list. */
function isListed({ node }, { names }) {
  return node !== undefined && isConstant(node) && names.filter((one) => one.node && isConstant(one.node)).length > 3;
}

function toPage(graph, page, places) {
  const linkTo = (file, name) => {
    const target = findDeclaration(graph, file, name) ?? findByName(name);
    const place = target === null ? undefined : places.get(keyOf(target));
    return place && toLink(place, page.file);
  };
  /** For comments, which name what their file does not import. */
  function findByName(name) {
    const entry = [...graph.values()].find(({ declarations, exports }) => declarations.has(name) && exports.has(name));
    return entry === undefined ? null : { file: entry.file, name };
  }
  const parts = [`# ${page.entry}`, MADE, "[Index of the reference](README.md)", toContents(page, places)];
  if (page.shared.length > 0) {
    const names = page.shared.map(({ name, key }) => `[${name}](${toLink(places.get(key), page.file)})`);
    parts.push(wrap(`Also exported here: ${names.join(", ")}.`));
  }
  for (const group of page.groups) {
    parts.push(`## ${group.title}`);
    if (group.about) parts.push(wrap(group.about));
    const values = group.names.filter((one) => isListed(one, group));
    if (values.length > 0) parts.push(values.map((one) => toValue(graph.get(one.file), one.name, linkTo)).join("\n"));
    for (const one of group.names.filter((other) => !values.includes(other))) {
      const declared = findDeclaration(graph, one.file, one.name).name;
      parts.push(`### ${one.name}`, toEntry(graph.get(one.file), declared, linkTo));
    }
  }
  return `${parts.join("\n\n")}\n`;
}

function toContents(page, places) {
  const items = page.groups.map((group) => {
    const names = group.names
      .filter((one) => !isListed(one, group))
      .map(({ name, key }) => `[${name}](#${places.get(key).anchor})`);
    const title = `[${group.title}](#${group.anchor})`;
    return wrap(names.length === 0 ? title : `${title}: ${names.join(", ")}`, { first: "- ", rest: "  " });
  });
  return items.join("\n");
}

function toLink({ page, anchor }, from) {
  return page === from ? `#${anchor}` : `${page}#${anchor}`;
}

function toIndex(pages, graph) {
  const entries = pages.map((page) => {
    const groups = page.groups.map(({ title, anchor }) => `[${title}](${page.file}#${anchor})`);
    return wrap(`[\`${page.entry}\`](${page.file}): ${groups.join(", ")}`, { first: "- ", rest: "  " });
  });
  return `# API reference

${MADE}

Every public name of the package, with its types and defaults, made from the type declarations. What is not here is not
public. [The SDK](../sdk.md) shows how the names work together.

${entries.join("\n")}

## Errors

Every error extends \`RLMError\` and has a stable \`code\`. A mistake in calling the API is a \`TypeError\` or a
\`RangeError\`.

${toErrors(pages, graph)}
`;
}

function toErrors(pages, graph) {
  const items = [];
  for (const page of pages) {
    for (const { name, file, node, comment } of page.groups.flatMap(({ names }) => names)) {
      if (node?.type !== "ClassDeclaration" || node.abstract) continue;
      const { text } = graph.get(file);
      const code = /\bcode = ("\w+")/.exec(text.slice(node.start, node.end))?.[1];
      const said = comment.value
        .replaceAll(/^\s*\* ?/gm, "")
        .replace(/^\*/, "")
        .trim();
      const link = `[\`${name}\`](${page.file}#${name.toLowerCase()})`;
      items.push([name, wrap(`${link}, \`${code}\`: ${said}`, { first: "- ", rest: "  " })]);
    }
  }
  return items
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([, item]) => item)
    .join("\n");
}
