// `rlm config show`: every setting, its value and where the value comes from.

import type { Config } from "../../config/config.ts";
import type { Origin } from "../../config/layers.ts";
import { cleanTerminalText } from "../../util/text/clean-terminal-text.ts";
import { formatSize } from "../../util/text/format.ts";
import { EXIT } from "../exit-code.ts";
import { toTable } from "../io/table.ts";
import { readConfig } from "../options/read-config.ts";
import { toFlags, type SettingArguments } from "../options/setting-flags.ts";
import { SIZES } from "./defaults.ts";
import { describeOrigin, shortenPath } from "./describe-origin.ts";
import { toKeyRows, toRows, type KeyRow, type SettingRow } from "./values.ts";

export interface ShowArguments extends SettingArguments {
  readonly config?: string;
  readonly json?: true;
}

export function showConfig(options: ShowArguments): number {
  const config = readConfig({ flags: toFlags(options), path: options.config });
  const [rows, keys] = [toRows(config), toKeyRows(config)];
  if (options.json) {
    const { files, ignored } = config;
    const settings = rows.map(({ key, value, words, origin }) => ({
      key,
      value: value ?? null,
      ...(words !== undefined && { default: words }),
      origin: toPlainOrigin(origin),
    }));
    process.stdout.write(`${JSON.stringify({ files, ignored, settings, keys })}\n`);
  } else {
    process.stdout.write(`${clean(describeFiles(config))}\n\n${toTable(COLUMNS, toCells(rows, keys))}`);
  }
  return EXIT.ok;
}

function describeFiles({ files }: Config): string {
  const names = files.toReversed().map(({ path, trust }) => `${shortenPath(path)}${TRUST[trust]}`);
  return names.length === 0 ? "no file: 'rlm init' writes an rlm.toml" : names.join(", which wins over ");
}

const TRUST = { trusted: "", new: " (not trusted)", changed: " (changed since it was trusted)" };

/** On a narrow terminal the values give way, so that keys and origins stay whole. */
const COLUMNS = [{ title: "SETTING" }, { title: "VALUE", least: 12 }, { title: "ORIGIN" }];

function toCells(rows: readonly SettingRow[], keys: readonly KeyRow[]): readonly (readonly string[])[] {
  return [
    ...rows.map((row) => [row.key, toText(row), row.origin === null ? "default" : describeOrigin(row.origin)]),
    ...keys.map(({ variable, from }) => [variable, "(set, not shown)", from]),
  ].map((row) => row.map(clean));
}

function toText({ key, value, words }: SettingRow): string {
  if (words !== undefined) return words;
  if (SIZES.has(key) && typeof value === "number") return formatSize(value);
  return JSON.stringify(value);
}

/** A file may contain anything. */
function clean(text: string): string {
  return cleanTerminalText(text).replaceAll(/\s+/g, " ");
}

/** Without what follows from the kind. */
function toPlainOrigin(origin: Origin | null): object {
  if (origin === null) return { kind: "default" };
  const { isApproved: _, ...plain } = origin;
  return plain;
}
