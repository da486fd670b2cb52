// The text of the documents: lines fit, links lead somewhere, and those of a document that ships lead to one that ships.

import { execFileSync } from "node:child_process";
import { existsSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { PAGES, readPage } from "./pages.ts";

const MAX_COLUMNS = 120;

/** For the review of a change: one declaration a line, however long. */
const REPORT = "docs/api-report.md";

test.each(PAGES.filter((page) => page !== REPORT))(`%s has lines of at most ${MAX_COLUMNS} characters`, (page) => {
  const lines = readPage(page).split("\n");
  const long = lines.flatMap((line, index) => (line.length > MAX_COLUMNS ? [`${page}:${index + 1}: ${line}`] : []));
  expect(long).toEqual([]);
});

test.each(PAGES)("%s has links that lead somewhere", (page) => {
  expect(linksOf(page).flatMap((link) => brokenBecause(page, link))).toEqual([]);
});

/** What `npm pack` would put into the package. */
const shipped = new Set(filesOfPackage());

test.each(PAGES.filter((page) => shipped.has(page)))("%s ships, and links to what ships", (page) => {
  const targets = linksOf(page).flatMap((link) => targetOf(page, link)?.file ?? []);
  expect(targets.filter((file) => !isShipped(file))).toEqual([]);
});

test("the documents ship", () => {
  // Contributors have a clone; the report is for the review of a change, and its readers have docs/reference/.
  const inClone = new Set(["CONTRIBUTING.md", REPORT]);
  expect(PAGES.filter((page) => !shipped.has(page) && !inClone.has(page))).toEqual([]);
});

test("the index leads to every page", () => {
  const index = "docs/README.md";
  const linked = new Set(linksOf(index).map((link) => targetOf(index, link)?.file));
  const isReached = (page: string): boolean =>
    linked.has(page) || /^docs\/(?:reference|security)\/|^docs\/api-report/.test(page);
  expect(PAGES.filter((page) => page.startsWith("docs/") && page !== index && !isReached(page))).toEqual([]);
});

interface Target {
  readonly file: string;
  readonly anchor: string | undefined;
}

/** The links of a page, without those in its code. */
function linksOf(page: string): string[] {
  const text = withoutCode(readPage(page));
  const inline = [...text.matchAll(/\[(?:[^[\]]|\[[^\]]*\])*\]\(\s*<?(?<link>[^)\s>]+)>?[^)]*\)/g)];
  const named = [...text.matchAll(/^\[[^\]]+\]:\s*(?<link>\S+)/gm)];
  const html = [...text.matchAll(/\b(?:href|src|srcset)="(?<link>[^"]+)"/g)];
  return [...inline, ...named, ...html].map(({ groups }) => groups?.["link"] ?? "");
}

function withoutCode(text: string): string {
  return text.replaceAll(/^( *)```[\s\S]*?^\1```/gm, "").replaceAll(/(`+)(?!`)[^\n]*?(?<!`)\1(?!`)/g, "code");
}

/** Undefined: it leads out of the repository. */
function targetOf(page: string, link: string): Target | undefined {
  if (/^[a-z]+:/.test(link)) return undefined;
  const [path = "", anchor] = link.split("#");
  return { file: path === "" ? page : join(dirname(page), decodeURIComponent(path)), anchor };
}

function brokenBecause(page: string, link: string): string[] {
  const target = targetOf(page, link);
  if (target === undefined) return [];
  if (!existsSync(target.file)) return [`${link}: there is no ${target.file}`];
  if (target.anchor === undefined || !target.file.endsWith(".md")) return [];
  return anchorsOf(target.file).has(target.anchor) ? [] : [`${link}: ${target.file} has no such heading`];
}

/** The anchors of a page: those of its headings as forges make them, and those that it names. */
function anchorsOf(page: string): Set<string> {
  const text = readPage(page).replaceAll(/^( *)```[\s\S]*?^\1```/gm, "");
  const found = new Set([...text.matchAll(/<a (?:id|name)="(?<id>[^"]+)"/g)].map(({ groups }) => groups?.["id"] ?? ""));
  for (const { groups } of text.matchAll(/^#{1,6} (?<heading>.+?)\s*#*$/gm)) {
    const base = toAnchor(groups?.["heading"] ?? "");
    let anchor = base;
    for (let n = 1; found.has(anchor); n += 1) anchor = `${base}-${n}`;
    found.add(anchor);
  }
  return found;
}

function toAnchor(heading: string): string {
  const shown = heading.replaceAll(/!?\[([^\]]*)\]\([^)]*\)/g, "$1").replaceAll(/<[^>]*>/g, "");
  return shown
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\p{M}_\s-]/gu, "")
    .replaceAll(/\s/g, "-");
}

function filesOfPackage(): string[] {
  const output = execFileSync("npm", ["pack", "--dry-run", "--json", "--ignore-scripts"], { encoding: "utf8" });
  const [packed] = JSON.parse(output) as [{ files: { path: string }[] }];
  return packed.files.map(({ path }) => path);
}

/** A link to a folder leads to what is in it. */
function isShipped(file: string): boolean {
  if (!statSync(file).isDirectory()) return shipped.has(file);
  return [...shipped].some((path) => path.startsWith(file.endsWith("/") ? file : `${file}/`));
}
