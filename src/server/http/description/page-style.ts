// How the page of the description looks: light and dark as the reader's system is, two columns where there is room. On a phone only the
// subjects are listed before the routes.

export const PAGE_STYLE = `
:root { --ink: #1d2330; --quiet: #5b6475; --line: #dde1e8; --paper: #fff; --block: #f4f6f9; --link: #1a56b8;
  --get: #0a6b3d; --post: #1a56b8; --put: #8a5200; --delete: #b3261e; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e4e7ee; --quiet: #9aa3b5; --line: #303746; --paper: #14171d; --block: #1d222b; --link: #8ab4f8;
    --get: #6fd39c; --post: #8ab4f8; --put: #e6b35c; --delete: #ff8f87; }
}
* { box-sizing: border-box; }
html { scroll-padding-top: 1rem; }
body { margin: 0; color: var(--ink); background: var(--paper); font: 16px/1.55 system-ui, sans-serif; overflow-wrap: anywhere; }
a { color: var(--link); text-decoration: none; }
a:hover, a:focus-visible { text-decoration: underline; }
code { font: 0.88em/1.4 ui-monospace, "SFMono-Regular", Menlo, Consolas, monospace; background: var(--block);
  padding: 0.1em 0.3em; border-radius: 4px; }
h3 code, nav code { background: none; padding: 0; }
nav { padding: 1rem; border-bottom: 1px solid var(--line); }
nav .title { margin: 0 0 0.5rem; font-weight: 700; font-size: 1.1rem; }
nav h2 { display: inline-block; margin: 0.25rem 1rem 0.25rem 0; font-size: 0.85rem; text-transform: uppercase; letter-spacing: 0.05em; }
nav ul { display: none; margin: 0; padding: 0; list-style: none; }
nav li a { display: block; padding: 0.2rem 0; color: var(--ink); font-size: 0.9rem; }
main { padding: 1rem; max-width: 52rem; }
h1 { margin: 0.5rem 0; font-size: 1.7rem; }
h1 small, dt small, .summary em { color: var(--quiet); font-weight: 400; font-size: 0.85rem; font-style: normal; }
main > h2 { margin: 2.5rem 0 0.5rem; padding-bottom: 0.3rem; border-bottom: 2px solid var(--line); }
section { padding: 1rem 0; border-bottom: 1px solid var(--line); }
section:target { box-shadow: -4px 0 0 var(--link); padding-left: 0.75rem; }
h3 { margin: 0 0 0.3rem; font-size: 1.05rem; }
h3 a { color: var(--ink); }
h4 { margin: 0.9rem 0 0.2rem; font-size: 0.85rem; color: var(--quiet); }
p { margin: 0.3rem 0; }
dl { margin: 0.2rem 0; }
dt { margin-top: 0.4rem; }
dd { margin: 0 0 0 1rem; color: var(--quiet); }
dd dl { border-left: 2px solid var(--line); padding-left: 0.75rem; color: var(--ink); }
.type { font-size: 0.9rem; }
b { font-size: 0.75rem; letter-spacing: 0.03em; }
.get { color: var(--get); } .post { color: var(--post); } .put { color: var(--put); } .delete { color: var(--delete); }
details { margin-top: 0.6rem; }
summary { cursor: pointer; color: var(--quiet); font-size: 0.9rem; }
@media (min-width: 60rem) {
  body { display: grid; grid-template-columns: 20rem minmax(0, 1fr); }
  nav { position: sticky; top: 0; height: 100vh; overflow-y: auto; border-bottom: 0; border-right: 1px solid var(--line); }
  nav h2 { display: block; margin: 1rem 0 0.25rem; }
  nav ul { display: block; }
  main { padding: 1rem 2.5rem 4rem; }
}
@media print { nav { display: none; } body { display: block; } }
`;
