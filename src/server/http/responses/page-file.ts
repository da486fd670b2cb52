// A file of the page as a response: compressed as the client accepts it, and not sent again while the client has it.

import type { PageEncoding, PageFile } from "../../context/page-files.ts";

/** `headers`: what else the response has. */
export function sendPageFile(
  { headers: asked }: Request,
  { type, etag, bytes, encoded }: PageFile,
  headers: Readonly<Record<string, string>>,
): Response {
  const common = { ...headers, etag, vary: "accept-encoding" };
  if (hasTag(asked.get("if-none-match"), etag)) return new Response(null, { status: 304, headers: common });
  const accepted = acceptedEncodings(asked.get("accept-encoding") ?? "");
  const [encoding, body] = [...encoded].find(([name]) => accepted.has(name)) ?? [undefined, bytes];
  return new Response(body, {
    headers: {
      ...common,
      "content-type": type,
      "content-length": String(body.length),
      ...(encoding !== undefined && { "content-encoding": encoding }),
    },
  });
}

/** Weak comparison, as for every If-None-Match (RFC 9110, section 13.1.2). */
function hasTag(header: string | null, etag: string): boolean {
  const bare = etag.replace(/^W\//, "");
  return header?.split(",").some((tag) => tag.trim() === "*" || tag.trim().replace(/^W\//, "") === bare) === true;
}

/** Those that are named and not refused with `q=0`. A wildcard names none: nobody who sends one needs compression. */
function acceptedEncodings(header: string): ReadonlySet<PageEncoding> {
  const known: readonly PageEncoding[] = ["br", "gzip"];
  const named = header.split(",").flatMap((entry) => {
    const [name = "", ...parameters] = entry.split(";").map((part) => part.trim().toLowerCase());
    const isRefused = parameters.some((parameter) => /^q\s*=\s*0(?:\.0*)?$/.test(parameter));
    return isRefused ? [] : [name];
  });
  return new Set(known.filter((encoding) => named.includes(encoding)));
}
