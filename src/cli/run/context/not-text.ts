// Files that are not text: what to do about them.

import { extname } from "node:path";

/** Why a file is not UTF-8 text: it is text in another encoding, or something else. */
export type NotText = "utf-16" | "other-encoding" | "binary";

const PANDOC = (path: string): string => `pandoc -t plain -o ${quote(`${path}.txt`)} ${quote(path)}`;
const OFFICE =
  (format: string) =>
  (path: string): string =>
    `libreoffice --headless --convert-to ${format} ${quote(path)}`;
const COMMAND =
  (command: string) =>
  (path: string): string =>
    `${command} ${quote(path)}`;
const OCR = (path: string): string => `tesseract ${quote(path)} ${quote(path)}`;

const COMMANDS: ReadonlyMap<string, (path: string) => string> = new Map([
  [".pdf", COMMAND("pdftotext")],
  [".docx", PANDOC],
  [".odt", PANDOC],
  [".epub", PANDOC],
  [".doc", OFFICE("txt")],
  [".pptx", OFFICE("pdf")],
  [".ppt", OFFICE("pdf")],
  [".xlsx", OFFICE("csv")],
  [".xls", OFFICE("csv")],
  [".ods", OFFICE("csv")],
  [".png", OCR],
  [".jpg", OCR],
  [".jpeg", OCR],
  [".tif", OCR],
  [".tiff", OCR],
  [".gz", COMMAND("gunzip -k")],
  [".xz", COMMAND("unxz -k")],
  [".bz2", COMMAND("bunzip2 -k")],
  [".zst", COMMAND("unzstd")],
  [".tar", COMMAND("tar -xf")],
  [".tgz", COMMAND("tar -xf")],
  [".zip", COMMAND("unzip")],
  [".sqlite", (path) => `sqlite3 ${quote(path)} .dump`],
  [".db", (path) => `sqlite3 ${quote(path)} .dump`],
]);

/** A command that makes text of the file. Undefined: none is known. */
export function conversionOf(path: string, kind: NotText): string | undefined {
  if (kind === "utf-16") return `iconv -f UTF-16 -t UTF-8 ${quote(path)} > ${quote(`${path}.txt`)}`;
  if (/\.tar\.\w+$/i.test(path)) return COMMAND("tar -xf")(path);
  const known = COMMANDS.get(extname(path).toLowerCase());
  if (known !== undefined) return known(path);
  return kind === "binary" ? undefined : `iconv -f WINDOWS-1252 -t UTF-8 ${quote(path)} > ${quote(`${path}.txt`)}`;
}

/** For a shell. The name must not be taken for an option, nor what is before a colon for a host, as `tar` does. */
function quote(path: string): string {
  const safe = /^-|^[^/]*:/.test(path) ? `./${path}` : path;
  return /^[\w./+:@%,=-]+$/.test(safe) ? safe : `'${safe.replaceAll("'", String.raw`'\''`)}'`;
}
