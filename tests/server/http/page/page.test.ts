// The page and its files: what needs no token, what a browser may do with them, and what cannot be asked for.

import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Runtime } from "../../../internals.ts";
import { PageFiles } from "../../../../src/server/context/page-files.ts";
import { openTestRuntime } from "../../../open.ts";
import { openTestServer, type Ask } from "../request.ts";

const FIXTURE = join(import.meta.dirname, "../../../fixtures/page");
const SCRIPT = "main-Ab12Cd34.js";
const ANONYMOUS = { authorization: "" };

let folder: string;
let runtime: Runtime;
let ask: Ask;
let script: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "rlm-page-"));
  cpSync(FIXTURE, folder, { recursive: true });
  script = readFileSync(join(folder, "assets", SCRIPT), "utf8");
  writeFileSync(join(folder, "assets", `${SCRIPT}.br`), brotliCompressSync(script));
  writeFileSync(join(folder, "assets", `${SCRIPT}.gz`), gzipSync(script));
  writeFileSync(join(folder, "secret.js"), "beside the assets");
  writeFileSync(join(folder, "assets", "notes.txt"), "of no type that the page has");
  runtime = await openTestRuntime({ poolSize: 0 });
  ({ ask } = openTestServer(runtime, { page: new PageFiles(folder) }));
});

afterAll(async () => {
  await runtime.close();
  rmSync(folder, { recursive: true });
});

describe("GET /", () => {
  test("is the page, without a token, and is asked for again at every visit", async () => {
    const { status, type, headers, response } = await ask("GET", "/", { headers: ANONYMOUS });
    expect([status, type]).toEqual([200, "text/html; charset=utf-8"]);
    expect(await response.text()).toContain("<title>A page</title>");
    expect(headers.get("cache-control")).toBe("no-cache");
    const again = await ask("GET", "/", { headers: { ...ANONYMOUS, "if-none-match": headers.get("etag") ?? "" } });
    expect([again.status, await again.response.text()]).toEqual([304, ""]);
    expect(again.headers.get("content-security-policy")).toBe(headers.get("content-security-policy"));
    const changed = await ask("GET", "/", { headers: { ...ANONYMOUS, "if-none-match": `"other"` } });
    expect(changed.status).toBe(200);
  });

  test("may load its own files only, is framed by nobody, and tells no other site where it is", async () => {
    const { headers } = await ask("GET", "/", { headers: ANONYMOUS });
    expect(headers.get("content-security-policy")).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; font-src 'self'; connect-src 'self'; frame-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    );
    expect(headers.get("referrer-policy")).toBe("no-referrer");
    expect(headers.get("cross-origin-opener-policy")).toBe("same-origin");
    expect(headers.get("x-content-type-options")).toBe("nosniff");
    expect(headers.get("permissions-policy")).toContain("camera=()");
  });

  test("says what to do where the page was not built", async () => {
    const { ask: askBare } = openTestServer(runtime, { page: new PageFiles(join(folder, "nothing")) });
    const { status, type, response } = await askBare("GET", "/", { headers: ANONYMOUS });
    expect([status, type]).toEqual([503, "text/html; charset=utf-8"]);
    expect(await response.text()).toContain("<code>npm run build</code>");
    expect((await askBare("GET", `/assets/${SCRIPT}`)).status).toBe(404);
  });
});

describe("GET /assets/{file}", () => {
  test("is kept by browsers for good, because the name has a hash", async () => {
    const { status, type, headers, response } = await ask("GET", `/assets/${SCRIPT}`, { headers: ANONYMOUS });
    expect([status, type]).toEqual([200, "text/javascript; charset=utf-8"]);
    expect(headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
    expect(headers.get("vary")).toBe("accept-encoding");
    expect(await response.text()).toBe(script);
  });

  test.each([
    ["gzip, deflate, br, zstd", "br"],
    ["gzip", "gzip"],
    ["br;q=0, gzip;q=0.5", "gzip"],
    ["GZIP;q=0.000", null],
    ["identity", null],
    ["*", null],
  ])("with Accept-Encoding: %s is sent as %s", async (accepted, encoding) => {
    const { headers, response } = await ask("GET", `/assets/${SCRIPT}`, { headers: { "accept-encoding": accepted } });
    expect(headers.get("content-encoding")).toBe(encoding);
    const ending = encoding === null ? "" : encoding === "br" ? ".br" : ".gz";
    const wanted = readFileSync(join(folder, "assets", SCRIPT + ending));
    expect(Buffer.from(await response.arrayBuffer()).equals(wanted)).toBe(true);
    expect(headers.get("content-length")).toBe(String(wanted.length));
  });

  test("answers HEAD with the same headers and no body", async () => {
    const get = await ask("GET", `/assets/${SCRIPT}`, { headers: ANONYMOUS });
    const head = await ask("HEAD", `/assets/${SCRIPT}`, { headers: ANONYMOUS });
    const headersOf = ({ headers }: typeof get): [string, string][] =>
      [...headers].filter(([name]) => name !== "x-request-id");
    expect([head.status, headersOf(head), await head.response.text()]).toEqual([200, headersOf(get), ""]);
  });

  test("the frame for untrusted content has an origin of its own, and may load and send nothing", async () => {
    const { headers } = await ask("GET", "/assets/frame.html", { headers: ANONYMOUS });
    const policy = headers.get("content-security-policy") ?? "";
    expect(policy).toMatch(/^sandbox allow-scripts; default-src 'none'; /);
    expect(policy).toContain("frame-ancestors 'self'");
    expect(policy).not.toMatch(/allow-same-origin|connect-src|script-src[^;]*'self'|https?:/);
    expect(headers.get("cache-control")).toBe("no-cache");
  });

  test.each([
    "/assets/../secret.js",
    "/assets/..%2fsecret.js",
    "/assets/%2e%2e%2fsecret.js",
    "/assets/..%5csecret.js",
    "/assets/main-Ab12Cd34.js%00",
    `/assets/${SCRIPT}.br`,
    "/assets/notes.txt",
    "/assets/__proto__",
    "/assets/none.js",
  ])("%s is not there", async (path) => {
    const { status, body, response } = await ask("GET", path);
    expect([status, body["code"]]).toEqual([404, "NOT_FOUND"]);
    expect(response.headers.get("content-type")).toBe("application/problem+json");
  });

  test.each(["/assets", "/assets/", `/assets/${SCRIPT}/more`, `/v1/assets/${SCRIPT}`])(
    "%s still needs a token",
    async (path) => {
      const { status } = await ask("GET", path, { headers: ANONYMOUS });
      expect(status).toBe(401);
    },
  );

  test.each([
    ["a foreign Host", { host: "evil.example" }, "HOST_NOT_ALLOWED"],
    ["a foreign Origin", { origin: "http://evil.example" }, "ORIGIN_NOT_ALLOWED"],
  ])("refuses %s, as every route does", async (_, headers, code) => {
    const { status, body } = await ask("GET", `/assets/${SCRIPT}`, { headers });
    expect([status, body["code"]]).toEqual([403, code]);
  });
});
