// What surrounds the code: workflows, templates, the development container, the versioning policy.

import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { parseDocument } from "yaml";
import { PROTOCOL } from "../../src/protocol/api/web-socket.ts";
import { SESSION_FILE_FORMAT } from "../../src/protocol/session-manifest.ts";
import { PROTOCOL_VERSION } from "../../src/protocol/worker/limits.ts";
import { SCHEMA_VERSION } from "../../src/store/runs/run-log-format.ts";

interface Step {
  readonly uses?: string;
  readonly run?: string;
  readonly with?: Readonly<Record<string, unknown>>;
}

interface Job {
  readonly uses?: string;
  readonly needs?: string;
  readonly environment?: string;
  readonly permissions?: Readonly<Record<string, string>>;
  readonly "timeout-minutes"?: number;
  readonly steps?: readonly Step[];
}

interface Workflow {
  readonly on: Readonly<Record<string, unknown>>;
  readonly permissions: unknown;
  readonly jobs: Readonly<Record<string, Job>>;
}

interface Form {
  readonly name: string;
  readonly description: string;
  readonly body: readonly { readonly type: string; readonly id?: string; readonly attributes: { label?: string } }[];
}

const yamlFiles = readdirSync(".github", { recursive: true, encoding: "utf8" }).filter((name) => /\.ya?ml$/.test(name));

test.each(yamlFiles)(".github/%s is YAML", (name) => {
  const { errors, warnings } = parseDocument(read(`.github/${name}`));
  expect([...errors, ...warnings].map(({ message }) => message)).toEqual([]);
});

describe("workflows", () => {
  const ci = parse(".github/workflows/ci.yml") as Workflow;
  const release = parse(".github/workflows/release.yml") as Workflow;
  const jobs = Object.entries({ ...ci.jobs, ...release.jobs });

  test("CI runs .ci/run for every push to main and every pull request", () => {
    expect(ci.on).toMatchObject({ push: { branches: ["main"] }, pull_request: null });
    expect(commands(ci.jobs["all"])).toContain(".ci/run");
  });

  test("a release is checked, packed and compared with its tag before somebody approves the publication", () => {
    expect(release.on).toEqual({ push: { tags: ["v*"] } });
    expect(release.jobs["check"]?.uses).toBe("./.github/workflows/ci.yml");
    expect(release.jobs["pack"]?.needs).toBe("check");
    expect(commands(release.jobs["pack"])).toContain('node scripts/release.mjs notes "$GITHUB_REF_NAME"');
    expect(release.jobs["publish"]).toMatchObject({ needs: "pack", environment: "npm" });
    expect(commands(release.jobs["publish"])).toMatch(/npm publish .*--provenance/);
  });

  test("only the job that publishes may write", () => {
    expect([ci.permissions, release.permissions]).toEqual([{ contents: "read" }, { contents: "read" }]);
    const granted = jobs.flatMap(([name, { permissions }]) => (permissions === undefined ? [] : [[name, permissions]]));
    expect(granted).toEqual([["publish", { contents: "write", "id-token": "write" }]]);
  });

  test("every job has a time limit, and no job gets the credentials of git", () => {
    const own = jobs.filter(([, { uses }]) => uses === undefined);
    expect(own.filter(([, job]) => job["timeout-minutes"] === undefined)).toEqual([]);
    const checkouts = own.flatMap(([, { steps = [] }]) => steps.filter(({ uses }) => uses?.includes("/checkout@")));
    expect(checkouts.filter((step) => step.with?.["persist-credentials"] !== false)).toEqual([]);
  });

  test("actions are pinned to a commit, with their version beside it", () => {
    const lines = ["ci", "release"].flatMap((name) => read(`.github/workflows/${name}.yml`).split("\n"));
    const actions = lines.filter((line) => /uses: (?!\.\/)/.test(line)).map((line) => line.trim());
    expect(actions.length).toBeGreaterThan(0);
    expect(actions.filter((line) => !/@[\da-f]{40} # v\d+\.\d+\.\d+$/.test(line))).toEqual([]);
  });

  test("what a stranger can name is never part of a script", () => {
    const scripts = jobs.map(([, job]) => commands(job)).join("\n");
    expect(scripts).not.toContain("${{");
  });
});

describe("templates", () => {
  test.each(["bug", "feature"])("the form %s has fields with a label each", (name) => {
    const form = parse(`.github/ISSUE_TEMPLATE/${name}.yml`) as Form;
    expect([form.name, form.description].every((text) => text.length > 0)).toBe(true);
    const fields = form.body.filter(({ type }) => type !== "markdown");
    expect(fields.length).toBeGreaterThan(0);
    expect(fields.filter(({ id, attributes }) => id === undefined || attributes.label === undefined)).toEqual([]);
    expect(new Set(fields.map(({ id }) => id)).size).toBe(fields.length);
  });

  test("a report of a bug has what rlm doctor says", () => {
    const { body } = parse(".github/ISSUE_TEMPLATE/bug.yml") as Form;
    expect(body.find(({ id }) => id === "doctor")).toMatchObject({
      attributes: { label: "rlm doctor --json" },
      validations: { required: true },
    });
  });
});

describe("the development container", () => {
  const container = JSON.parse(read(".devcontainer/devcontainer.json")) as {
    readonly build: { readonly dockerfile: string };
    readonly remoteUser: string;
    readonly runArgs: readonly string[];
    readonly postCreateCommand: string;
  };
  const dockerfile = read(`.devcontainer/${container.build.dockerfile}`);

  test("has the options with which an ordinary user gets tier A", () => {
    const command = /^docker run [^`]*?--user 1000:1000/m.exec(read("docs/environments.md"))?.[0] ?? "";
    const options = [...command.matchAll(/--security-opt (\S+)/g)].map(([, option]) => `--security-opt=${option}`);
    expect(options.length).toBeGreaterThan(0);
    expect(container.runArgs).toEqual(options);
    expect(container.remoteUser).toBe("node");
  });

  test("has the Debian packages that an ordinary user cannot install when the set-up asks for them", () => {
    const setup = read("scripts/setup.mjs");
    const tables = [...setup.matchAll(/^const TESTED_\w+ = [{[]([^}\]]*)[}\]]/gm)].map(([, table = ""]) => table);
    const names = tables.flatMap((table) => [...table.matchAll(/"([a-z\d-]+)"/g)].map(([, name = ""]) => name));
    expect(names.length).toBeGreaterThan(5);
    expect(["python3", ...names].filter((name) => !new RegExp(` ${name}(?: |$)`, "m").test(dockerfile))).toEqual([]);
  });

  test("prepares the project as npm test does", () => {
    const { scripts } = JSON.parse(read("package.json")) as { readonly scripts: Readonly<Record<string, string>> };
    expect(container.postCreateCommand).toBe(scripts["pretest"]);
  });
});

test("docs/versioning.md has the versions of the formats", () => {
  const rows = [...read("docs/versioning.md").matchAll(/^\| ([\w ]+) \| (\d+) \|/gm)];
  expect(Object.fromEntries(rows.map(([, name, version]) => [name, Number(version)]))).toEqual({
    "HTTP and WebSocket API": PROTOCOL,
    "session file": SESSION_FILE_FORMAT,
    "recorded run": SCHEMA_VERSION,
    "worker protocol": PROTOCOL_VERSION,
  });
});

function read(path: string): string {
  return readFileSync(path, "utf8");
}

function parse(path: string): unknown {
  return parseDocument(read(path)).toJS();
}

function commands(job: Job | undefined): string {
  return (job?.steps ?? []).map(({ run = "" }) => run).join("\n");
}
