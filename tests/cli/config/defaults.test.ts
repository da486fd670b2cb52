import { expect, test } from "vitest";
import { z } from "zod";
import { SETTING_DEFAULTS } from "../../../src/cli/config/defaults.ts";
import { NAMED_SECTIONS } from "../../../src/config/layers.ts";
import { configSchema } from "../../../src/config/schema.ts";
import { loadConfig } from "../../../src/config/config.ts";
import { toRows } from "../../../src/cli/config/values.ts";
import { Folder } from "../../config/folder.ts";

test("config show lists every key of the schema", () => {
  const sections = Object.entries(configSchema.shape).filter(([name]) => !NAMED_SECTIONS.includes(name));
  const known = sections.map(([name, section]) => {
    const table = section.unwrap();
    return [name, table instanceof z.ZodObject ? Object.keys(table.shape).toSorted() : []];
  });
  const shown = Object.entries(SETTING_DEFAULTS).map(([name, keys]) => [name, Object.keys(keys).toSorted()]);
  expect(Object.fromEntries(shown)).toEqual(Object.fromEntries(known));
});

test("rows have values and origins, also those of named tables", () => {
  using folder = new Folder({ "rlm.toml": '[prices."m.x"]\ninput = 1\noutput = 2\n[limits]\nmemory = "1g"\n' });
  const path = folder.at("rlm.toml");
  const rows = toRows(loadConfig({ cwd: folder.path, env: { HOME: folder.path } }));
  const origin = { kind: "project-file", path, isApproved: false };
  expect(rows.filter(({ origin: from }) => from !== null)).toEqual([
    { key: "limits.memory", value: 1024 ** 3, origin: { ...origin, line: 5 } },
    { key: 'prices."m.x".input', value: 1, origin: { ...origin, line: 2 } },
    { key: 'prices."m.x".output', value: 2, origin: { ...origin, line: 3 } },
  ]);
});
