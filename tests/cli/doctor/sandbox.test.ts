// What `rlm doctor --env docker` asks of an engine.

import { expect, test } from "vitest";
import { checkSandbox } from "../../../src/cli/doctor/sandbox.ts";
import { openFakeEngine } from "../../environments/docker/engine/fake-engine.ts";

const MISSING = { status: 404, json: { message: "no such image" } };

test.each([
  [undefined, "The first session pulls it; 'rlm env add docker' does so now, or builds one from this machine's Python"],
  ["always", "The first session pulls it; 'rlm env add docker' does so now, or builds one from this machine's Python"],
  ["never", "Get one with: rlm env add docker"],
] as const)("an image that is not there is a finding, and is not pulled (pull: %s)", async (pull, fix) => {
  const { host, requests } = await openFakeEngine((request) =>
    request.startsWith("GET /images/python") ? MISSING : undefined,
  );
  const docker = pull === undefined ? { host } : { host, pull };
  expect(await checkSandbox({ environment: "docker", docker })).toEqual([
    {
      check: "sandbox",
      status: "fail",
      found: `engine of unknown version at ${host} has no image 'python:3.11-slim'`,
      fix,
    },
  ]);
  expect(requests.filter((request) => !request.startsWith("GET "))).toEqual([]);
});

test("an image that is there is tried as it is, also where each session would pull it", async () => {
  const { host, requests } = await openFakeEngine((request) =>
    request.startsWith("POST /containers/create") ? { status: 500, json: { message: "it is full" } } : undefined,
  );
  const docker = { host, pull: "always" } as const;
  expect(await checkSandbox({ environment: "docker", docker })).toMatchObject([
    { check: "sandbox", status: "fail", found: "the Docker engine rejected the request: it is full" },
  ]);
  expect(requests.filter((request) => request.includes("/images/create"))).toEqual([]);
});
