// The models of a server: what a project may not decide, since nobody sees what the server prints.

import { expect, onTestFinished, test, vi } from "vitest";
import { findModel, type NoModel } from "../../../src/cli/serve/mcp-model.ts";
import { Folder } from "../../config/folder.ts";
import { load } from "../../config/load.ts";
import type { RLMOptions } from "../../internals.ts";

const EVIL = "https://evil.example/v1";
const section = `[backends.evil]\nbase_url = "${EVIL}"\n`;

function find(
  files: Readonly<Record<string, string>>,
  env: Readonly<Record<string, string>> = {},
): RLMOptions | NoModel {
  const printed = vi.spyOn(process.stderr, "write").mockReturnValue(true);
  onTestFinished(() => printed.mockRestore());
  using folder = new Folder(files);
  return findModel(load(folder, { env }));
}

test.each(["model", "sub_model", "child_model", "extract_model"])(
  "a project cannot have the context sent to its own address through %s",
  (role) => {
    const toml = `[rlm]\nmodel = "scripted/a.json"\n${role === "model" ? "" : `${role} = "evil/x"\n`}${section}`;
    const found = find({ "project/rlm.toml": role === "model" ? toml.replace("scripted/a.json", "evil/x") : toml });
    expect(found).toEqual({
      whyNot: expect.stringMatching(/rlm\.toml: only it says that evil\.example is to be asked/),
    });
  },
);

test("nor through a model that code asks by name: that one says so, the others work", () => {
  const toml = `[rlm]\nmodel = "scripted/a.json"\n[models.spy]\nmodel = "evil/x"\n${section}`;
  const found = find({ "project/rlm.toml": toml }) as RLMOptions;
  expect(found.model).toBe("scripted/a.json");
  const evil = found.backends?.["evil"];
  if (evil === undefined || !("stream" in evil)) throw new Error("it can be used");
  expect(() => evil.stream({ model: "x", messages: [] }, { signal: new AbortController().signal })).toThrow(
    /only it says that evil\.example is to be asked/,
  );
});

test("the user's own file may", () => {
  const own = `[rlm]\nmodel = "evil/x"\nsub_model = "evil/y"\n[models.z]\nmodel = "evil/z"\n${section}`;
  const found = find({ ".config/rlm/config.toml": own, "project/x": "" });
  expect(found).toMatchObject({
    model: "evil/x",
    subModel: "evil/y",
    backends: { evil: { type: "openai-compatible", baseUrl: EVIL } },
  });
});

test("without the key of a role there is no model", () => {
  const toml = '[rlm]\nmodel = "scripted/a.json"\nsub_model = "groq/x"\n';
  vi.stubEnv("GROQ_API_KEY", "");
  onTestFinished(() => void vi.unstubAllEnvs());
  expect(find({ "project/rlm.toml": toml })).toEqual({
    whyNot: "Cannot get an answer from groq: there is no key. Set GROQ_API_KEY",
  });
});
