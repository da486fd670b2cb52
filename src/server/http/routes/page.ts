// The page at `/` and the files that it loads. They need no token and hold nothing secret: the page asks for the token, or takes it from
// the fragment of its link, which no request contains.

import { ProblemError } from "../../net/problem.ts";
import { routesTagged } from "../route.ts";
import { sendPageFile } from "../responses/page-file.ts";

const route = routesTagged("Server");
const HTML = "text/html; charset=utf-8";

/** The page loads its own files and talks to its own server, and nothing else. Nobody frames it. */
const PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' blob: data:",
  "font-src 'self'",
  "connect-src 'self'",
  "frame-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

/**
 * The document in which the page shows HTML and SVG of sessions, in an origin of its own, without a way to load or send anything. The sandbox
 * is also here, so that it holds where the document is opened by itself. The script is that of the document: it forbids further ones before
 * it shows anything, unless the reader wants them.
 */
const FRAME_POLICY = [
  "sandbox allow-scripts",
  "default-src 'none'",
  "script-src 'unsafe-inline'",
  "style-src 'unsafe-inline'",
  "img-src data: blob:",
  "font-src data:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'self'",
].join("; ");

/** What neither the page nor a frame in it needs from the browser. */
const PERMISSIONS = [
  "accelerometer",
  "camera",
  "display-capture",
  "geolocation",
  "gyroscope",
  "hid",
  "microphone",
  "midi",
  "payment",
  "publickey-credentials-get",
  "serial",
  "usb",
  "xr-spatial-tracking",
]
  .map((name) => `${name}=()`)
  .join(", ");

const COMMON = {
  "referrer-policy": "no-referrer",
  "permissions-policy": PERMISSIONS,
  "x-content-type-options": "nosniff",
  "x-dns-prefetch-control": "off",
  "cross-origin-resource-policy": "same-origin",
};
const PAGE_HEADERS = {
  ...COMMON,
  "content-security-policy": PAGE_POLICY,
  "cross-origin-opener-policy": "same-origin",
  "cache-control": "no-cache",
};
const FRAME_HEADERS = { ...COMMON, "content-security-policy": FRAME_POLICY, "cache-control": "no-cache" };
/** Their names have the hash of their content. */
const ASSET_HEADERS = { ...COMMON, "cache-control": "public, max-age=31536000, immutable" };

const NOT_BUILT = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="color-scheme" content="light dark">
<title>RLM Runtime</title>
<h1>The page was not built</h1>
<p>This server works, and its page is not there. In a source tree, <code>npm run build</code> builds it: then start the server again.
In an installed package it is part of the package: install the package again.</p>
<p><a href="v1/docs">Every route of the server</a></p>
`;

const page = route("GET", "/", {
  summary: "The page: sessions, tasks and runs in a browser",
  isOpen: true,
  isLight: true,
  responses: {
    200: { description: "The page", types: [HTML] },
    304: { description: "The client has it already" },
    503: { description: "The page was not built", types: [HTML] },
  },
  handle: ({ request }, { page: files }) => {
    const { index } = files;
    if (index !== undefined) return sendPageFile(request, index, PAGE_HEADERS);
    return new Response(NOT_BUILT, { status: 503, headers: { "content-type": HTML } });
  },
});

const assets = route("GET", "/assets/{file}", {
  summary: "A file that the page loads",
  isOpen: true,
  isLight: true,
  responses: {
    200: { description: "The file", types: [HTML, "text/javascript; charset=utf-8", "text/css; charset=utf-8"] },
    304: { description: "The client has it already" },
  },
  problems: [404],
  handle: ({ request, params }, { page: files }) => {
    const file = files.asset(params["file"] ?? "");
    if (file === undefined) throw new ProblemError(NO_SUCH_FILE);
    return sendPageFile(request, file, file.type === HTML ? FRAME_HEADERS : ASSET_HEADERS);
  },
});

const NO_SUCH_FILE = { status: 404, code: "NOT_FOUND", detail: "The page has no such file" };

export const pageRoutes = [page, assets];
