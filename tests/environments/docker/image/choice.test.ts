// Which image sessions get: the configured one as [docker] pull says, else what `rlm env add docker` has built, else an error that says what to do.

import { describe, expect, test } from "vitest";
import { prepareImage } from "../../../../src/environments/docker/worker-image.ts";
import { pythonFolder } from "../../../../src/environments/python-folder.ts";
import type { DockerOptions } from "../../../../src/api/local.ts";
import { openFakeEngine, type Answer } from "../engine/fake-engine.ts";

const DEFAULT = "python:3.11-slim";
const SYSTEM = "rlm-runtime/system-python:3.11";
const OFFLINE = "no such host";

interface World {
  /** Whether the engine has the image that is wanted. */
  readonly has: boolean;
  /** Whether `rlm env add docker` has built one. */
  readonly built: boolean;
  readonly registry: "answers" | "offline";
}

interface Choice {
  readonly name: string;
  readonly isPulled: boolean;
}

/** The image that is chosen, or the error. */
async function choose(docker: DockerOptions, { has, built, registry }: World): Promise<Choice> {
  let isThere = has;
  const answer = (request: string): Answer => {
    if (request.startsWith("GET /images/json") && built)
      return JSON.stringify([{ Id: "sha256:system", Created: 1, RepoTags: [SYSTEM] }]);
    if (/^GET \/images\/(?:python|mine)/.test(request) && !isThere) return { status: 404, json: { message: "none" } };
    if (!request.startsWith("POST /images/create")) return undefined;
    if (registry === "offline") return { status: 500, json: { message: OFFLINE } };
    isThere = true;
    return JSON.stringify({ status: "Status: Downloaded newer image" });
  };
  const { engine, requests } = await openFakeEngine(answer);
  const { signal } = new AbortController();
  const options = { docker, pythonFolder: pythonFolder() ?? "", onProgress: () => undefined, signal };
  const { name } = await prepareImage(engine, options);
  return { name, isPulled: requests.some((request) => request.startsWith("POST /images/create")) };
}

describe("the default image", () => {
  test.each<readonly [DockerOptions["pull"], World, Choice]>([
    [undefined, { has: true, built: true, registry: "answers" }, { name: DEFAULT, isPulled: false }],
    [undefined, { has: false, built: true, registry: "answers" }, { name: SYSTEM, isPulled: false }],
    [undefined, { has: false, built: false, registry: "answers" }, { name: DEFAULT, isPulled: true }],
    ["missing", { has: false, built: false, registry: "answers" }, { name: DEFAULT, isPulled: true }],
    ["always", { has: true, built: true, registry: "answers" }, { name: DEFAULT, isPulled: true }],
    ["always", { has: false, built: true, registry: "answers" }, { name: DEFAULT, isPulled: true }],
    ["always", { has: false, built: true, registry: "offline" }, { name: SYSTEM, isPulled: true }],
    ["never", { has: true, built: true, registry: "answers" }, { name: DEFAULT, isPulled: false }],
    ["never", { has: false, built: true, registry: "answers" }, { name: SYSTEM, isPulled: false }],
  ])("pull: %s, %o: %o", async (pull, world, expected) => {
    expect(await choose(pull === undefined ? {} : { pull }, world)).toEqual(expected);
  });
});

test("an image that was chosen is never replaced by another", async () => {
  const world: World = { has: false, built: true, registry: "answers" };
  expect(await choose({ image: "mine:1" }, world)).toEqual({ name: "mine:1", isPulled: true });
  for (const pull of ["missing", "always"] as const)
    await expect(choose({ image: "mine:1", pull }, { ...world, registry: "offline" })).rejects.toMatchObject({
      why: `image 'mine:1' cannot be pulled: ${OFFLINE}`,
    });
});

describe("an image that cannot be had says why, and what to do", () => {
  const nothing: World = { has: false, built: false, registry: "offline" };
  test.each<readonly [DockerOptions, World, string, string]>([
    [
      {},
      nothing,
      `image '${DEFAULT}' cannot be pulled: ${OFFLINE}`,
      `Pull it with 'docker pull ${DEFAULT}', or build one from this machine's Python with 'rlm env add docker'`,
    ],
    [
      { image: "mine:1" },
      nothing,
      `image 'mine:1' cannot be pulled: ${OFFLINE}`,
      "Pull it with 'docker pull mine:1', or set [docker] image to one that the engine has: 'rlm env add docker' adds one",
    ],
    [
      { pull: "always" },
      { ...nothing, has: true, built: true },
      `image '${DEFAULT}' cannot be pulled: ${OFFLINE}`,
      "To use the one that the engine has, set [docker] pull to missing",
    ],
    [
      { pull: "never" },
      nothing,
      `the engine has no image '${DEFAULT}', and [docker] pull is never`,
      `Pull it with 'docker pull ${DEFAULT}', or build one from this machine's Python with 'rlm env add docker'`,
    ],
    [
      { pull: "never", image: "mine:1" },
      { ...nothing, built: true },
      "the engine has no image 'mine:1', and [docker] pull is never",
      "Pull it with 'docker pull mine:1', or set [docker] image to one that the engine has: 'rlm env add docker' adds one",
    ],
    [{ image: "No Image" }, nothing, '"No Image" is not a valid image name', "Use one like python:3.11-slim"],
  ])("%o in %o", async (docker, world, why, fix) => {
    await expect(choose(docker, world)).rejects.toMatchObject({ environment: "docker", why, fix });
  });
});
