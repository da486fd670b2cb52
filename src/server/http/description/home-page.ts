// The page at `/`: what this server is, how to get its token, and what to try. Nothing in it is secret, loaded or executed.

import { createHash } from "node:crypto";
import { escapeHTML } from "./schema-html.ts";

/** Light and dark as the reader's system is; one column that also fits a phone. */
const STYLE = `
:root { --ink: #1d2330; --quiet: #5b6475; --line: #dde1e8; --paper: #fff; --block: #f4f6f9; --link: #1a56b8; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e4e7ee; --quiet: #9aa3b5; --line: #303746; --paper: #14171d; --block: #1d222b; --link: #8ab4f8; }
}
* { box-sizing: border-box; }
body { margin: 0; color: var(--ink); background: var(--paper); font: 16px/1.6 system-ui, sans-serif; }
main { max-width: 46rem; margin: 0 auto; padding: 3rem 1.25rem; }
h1 { margin: 0; font-size: 2rem; letter-spacing: -0.01em; }
h1 + p { margin: 0.4rem 0 0; font-size: 1.1rem; color: var(--quiet); }
h2 { margin: 2.5rem 0 0.5rem; padding-bottom: 0.3rem; border-bottom: 1px solid var(--line); font-size: 1.1rem; }
ol { margin: 0; padding-left: 1.4rem; }
li { margin: 1.1rem 0; padding-left: 0.3rem; }
p { margin: 0.4rem 0; }
a { color: var(--link); }
code, pre { font: 0.88rem/1.55 ui-monospace, "SFMono-Regular", Menlo, Consolas, monospace; }
code { background: var(--block); padding: 0.1em 0.35em; border-radius: 4px; }
pre { margin: 0.5rem 0; padding: 0.8rem 1rem; background: var(--block); border: 1px solid var(--line); border-radius: 8px;
  overflow-x: auto; }
pre code { background: none; padding: 0; }
nav { display: flex; flex-wrap: wrap; gap: 0.4rem 1.5rem; margin-top: 1rem; }
`;

/** Allows the inline style only: nothing is loaded, sent or framed. */
export const HOME_POLICY = `default-src 'none'; style-src 'sha256-${createHash("sha256").update(STYLE).digest("base64")}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;

/** `origin`: the address of the server as the reader's browser knows it. */
export function createHomePage(origin: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>RLM Runtime</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<style>${STYLE}</style>
</head>
<body>
<main>
<h1>RLM Runtime</h1>
<p>This server gives language models, and programs that drive them, persistent Python sessions and shell commands in a sandbox.</p>
<nav aria-label="Documents">
<a href="/v1/docs">Every route</a>
<a href="/v1/health">Health</a>
</nav>
<h2>Get the token</h2>
<p>Every other request needs a token. The terminal in which the server was started says where it is. Usually this reads it:</p>
${block("export RLM_TOKEN=$(cat ~/.local/share/rlm/server/token)")}
<h2>Try it</h2>
<ol>
<li>Run code:
${block(String.raw`curl -s ${origin}/process/interpreter/execute \
  -H "Authorization: Bearer $RLM_TOKEN" \
  -d '{"code": "print(6*7)"}'`)}</li>
<li>Open a session, and keep its state from one call to the next:
${block(`export RLM_URL=${origin}
rlm sessions open --id demo
rlm sessions exec demo -c 'x = 6 * 7'
rlm sessions exec demo -c 'print(x)'`)}</li>
<li>Connect an assistant that speaks MCP:
${block(String.raw`claude mcp add --transport http rlm ${origin}/mcp \
  --header "Authorization: Bearer $RLM_TOKEN"`)}</li>
</ol>
</main>
</body>
</html>
`;
}

function block(text: string): string {
  return `<pre><code>${escapeHTML(text)}</code></pre>`;
}
