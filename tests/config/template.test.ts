import { expect, test } from "vitest";
import { loadConfig } from "../../src/config/config.ts";
import { DEFAULTS } from "../../src/config/settings.ts";
import { TEMPLATE } from "../../src/config/template.ts";
import { rlmSchema } from "../../src/config/schema.ts";
import { Folder } from "./folder.ts";

function load(text: string): ReturnType<typeof loadConfig> {
  using folder = new Folder({ "rlm.toml": text });
  return loadConfig({ cwd: folder.path, env: { HOME: folder.path } });
}

const uncommented = TEMPLATE.replaceAll(/^# (?=[a-z_]+ = |\[)/gm, "");

test("the template parses and equals the defaults", () => {
  expect(load(TEMPLATE).rlm).toEqual(DEFAULTS);
});

test("every commented line parses, too, and shows the default if there is one", () => {
  const { rlm, backends, prices, docker, limits, sessions, ignored } = load(uncommented);
  expect(rlm).toMatchObject(DEFAULTS);
  for (const section of [backends, prices, docker, limits, sessions]) expect(Object.keys(section)).not.toEqual([]);
  expect(ignored?.names).toEqual([
    "rlm.extra_body",
    "docker.image",
    "docker.network",
    "docker.runtime",
    "docker.pull",
    "docker.host",
    "wasm.wheels",
    "sessions.python",
    "sessions.preload",
    "sessions.mounts",
  ]);
});

test("it shows every key of [rlm]", () => {
  const section = uncommented.slice(uncommented.indexOf("[rlm]"), uncommented.indexOf("\n[models"));
  const shown = [...section.matchAll(/^([a-z_]+) = /gm)].map(([, key]) => key);
  expect(new Set(shown)).toEqual(new Set(Object.keys(rlmSchema.shape)));
});
