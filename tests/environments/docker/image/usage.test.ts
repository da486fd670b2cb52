// What `rlm env add docker` says of the image that it got, without an engine.

import { expect, test } from "vitest";
import {
  installDocker,
  type ImageEngine,
  type InstallDockerOptions,
} from "../../../../src/environments/docker/install.ts";
import { imagePython } from "../../../docker/image-python.ts";

const USED = "Use it: rlm exec --env docker";

/** It has these images, and every image runs Python. */
function engineWith(...names: readonly string[]): ImageEngine {
  return {
    address: "unix:///engine.sock",
    has: async (image) => names.includes(image),
    pull: async () => undefined,
    importImage: async () => undefined,
    run: async () => ({ exitCode: 0, output: "2\r\n" }),
  };
}

test.each<readonly [InstallDockerOptions, string]>([
  [{}, USED],
  [{ configured: "python:3.12" }, USED],
  [{ image: "python:3.12" }, toUse("python:3.12")],
  [{ image: "python:3.12", configured: "python:3.13" }, toUse("python:3.12")],
])("an image that was pulled is used by sessions only if the settings name it: %j", async (options, use) => {
  expect((await installDocker(engineWith(), options)).summary.at(-1)).toBe(use);
});

test("an image that was built is used where no image is configured, and the default one is not there", async () => {
  const { image, summary } = await installDocker(engineWith(), { python: imagePython() });
  expect(summary.at(-1)).toBe(USED);
  const last = async (engine: ImageEngine, configured?: string): Promise<string | undefined> =>
    (await installDocker(engine, { python: imagePython(), configured })).summary.at(-1);
  expect(await last(engineWith("python:3.11-slim"))).toBe(toUse(image));
  expect(await last(engineWith(), "python:3.12")).toBe(toUse(image));
  expect(await last(engineWith(), image)).toBe(USED);
});

test("an image whose Python is too old is refused, with the version", async () => {
  const old = { ...engineWith(), run: async () => ({ exitCode: 0, output: "3.7.3\r\n" }) };
  await expect(installDocker(old, { image: "python:3.7" })).rejects.toThrow(
    "image 'python:3.7' has Python 3.7.3, and sessions need 3.9 or newer",
  );
});

function toUse(image: string): string {
  return `To use it, set image = "${image}" in the [docker] section of rlm.toml`;
}
