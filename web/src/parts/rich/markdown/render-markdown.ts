// Markdown to elements. What it may contain is a short list: text with structure, links that say where they lead, and pictures that are part
// of the text. Nothing that is loaded, styled or named, so that it can neither report to anybody nor look like a part of the page.

import DOMPurify, { type Config } from "dompurify";
import { markdownToHTML } from "./markdown-to-html.ts";

const ALLOWED: Config = {
  ALLOWED_TAGS:
    "p br hr h1 h2 h3 h4 h5 h6 blockquote pre code ul ol li em strong del sub sup kbd a img table thead tbody tr th td".split(
      " ",
    ),
  ALLOWED_ATTR: ["href", "title", "alt", "src", "start", "align", "colspan", "rowspan"],
  ALLOW_DATA_ATTR: false,
  ALLOW_ARIA_ATTR: false,
  // An address of this page could be a command to it, so relative ones are left out.
  ALLOWED_URI_REGEXP: /^(?:https?:\/\/|mailto:)/i,
  RETURN_DOM_FRAGMENT: true,
};
const PICTURE = /^data:image\/(?:png|jpeg|gif|webp);base64,[A-Za-z0-9+/=\s]+$/;
const LINK = /^(?:https?:\/\/|mailto:)/i;

/** Undefined: it is too long, or cannot be parsed. */
export function renderMarkdown(text: string): DocumentFragment | undefined {
  const html = markdownToHTML(text);
  if (html === undefined) return undefined;
  const fragment = DOMPurify.sanitize(html, { ...ALLOWED, RETURN_DOM_FRAGMENT: true });
  for (const link of fragment.querySelectorAll("a")) guardLink(link);
  for (const image of fragment.querySelectorAll("img")) guardImage(image);
  return fragment;
}

function guardLink(link: HTMLAnchorElement): void {
  const href = link.getAttribute("href") ?? "";
  if (!LINK.test(href)) {
    link.replaceWith(...link.childNodes);
    return;
  }
  link.target = "_blank";
  link.rel = "noopener noreferrer";
  link.title = href; // the text of a link may name another place
}

/** A picture from elsewhere would tell its server who reads this. */
function guardImage(image: HTMLImageElement): void {
  if (PICTURE.test(image.getAttribute("src") ?? "")) return;
  image.replaceWith(image.alt === "" ? "[picture]" : `[picture: ${image.alt}]`);
}
