// What `rlm doctor --env docker` asks of an engine, and what it says of Python.

import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { checkSandbox, python } from "../../../src/cli/doctor/sandbox.ts";
import { remove } from "../../remove.ts";
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

test("a script that stands in for Python is a warning, but not for the Python of a container", () => {
  const folder = mkdtempSync(join(tmpdir(), "rlm-test-"));
  onTestFinished(() => {
    vi.unstubAllEnvs();
    remove(folder);
  });
  const shim = join(folder, "python3");
  writeFileSync(shim, "#!/bin/sh\n");
  vi.stubEnv("RLM_PYTHON", shim);
  const found = { version: "3.11.2", executable: "/usr/bin/python3" };
  const text = "3.11.2 at /usr/bin/python3";
  expect(python({ name: "local", python: found })).toEqual({
    check: "python",
    status: "warn",
    found: `${text}, by way of the script ${shim}`,
    fix: "RLM_PYTHON=/usr/bin/python3 saves the detour at every start",
  });
  expect(python({ name: "docker", python: found })).toEqual({ check: "python", status: "ok", found: text });
});
