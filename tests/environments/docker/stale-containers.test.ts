// Which containers a start removes: those whose host is known to be gone, and those that nobody can need any more.

import { spawnSync } from "node:child_process";
import { describe, expect, test } from "vitest";
import { removeStaleContainers } from "../../../src/environments/docker/containers.ts";
import { labels } from "../../../src/environments/docker/labels.ts";
import { isGone, thisProcess, type Owner } from "../../../src/environments/docker/owner.ts";
import { openFakeEngine } from "./engine/fake-engine.ts";

const OWNER = "dev.rlm-runtime.owner";
const DAY = 24 * 3600;
const { pid: ended } = spawnSync("true");

const own = thisProcess();
const dead = { pid: ended, start: "1" };
const cases: readonly (readonly [string, Partial<Owner>, boolean])[] = [
  ["this process", {}, false],
  ["a process that has ended", dead, true],
  ["a process whose number has another now", { start: "1" }, true],
  ["a live process whose start is unknown", { start: "" }, false],
  ["an ended process whose start is unknown", { pid: ended, start: "" }, true],
  ["a process before this machine was restarted", { boot: "other" }, true],
  ["a process of another machine", { boot: "other", machine: "other", ...dead }, false],
  ["a process of an unknown machine", { boot: "other", machine: "", ...dead }, false],
  ["a process of an unknown boot", { boot: "", ...dead }, false],
  ["a process in another namespace", { pidNamespace: "other", ...dead }, false],
  ["a process in an unknown namespace", { pidNamespace: "", ...dead }, false],
];

test.each(cases)("isGone() for %s", (_, facts, expected) => {
  expect(isGone({ ...own, ...facts })).toBe(expected);
});

test("where boots are unknown, an owner is gone if its machine is known to be this one", () => {
  const here = { ...own, boot: "" };
  expect(isGone({ ...here, ...dead }, here)).toBe(true);
  expect(isGone({ ...here, ...dead, machine: "other" }, here)).toBe(false);
  expect(isGone({ ...here, ...dead, machine: "" }, { ...here, machine: "" })).toBe(false);
});

describe("a start", () => {
  const foreign = { ...own, pidNamespace: "other" };
  const now = Math.floor(Date.now() / 1000);
  const container = (
    index: number,
    kind: "session" | "build" | "check" | "worker",
    owner: unknown,
    age: object = {},
  ) => ({
    Id: String(index).padStart(64, "0"),
    Created: now,
    State: "running",
    Labels: { ...labels(kind), [OWNER]: typeof owner === "string" ? owner : JSON.stringify(owner) },
    ...age,
  });
  const old = { Created: now - DAY - 60 };

  test("removes what is left, and nothing that may be in use", async () => {
    const left = [
      container(1, "session", { ...own, ...dead }),
      container(2, "build", { ...own, ...dead }),
      container(3, "build", foreign, old),
      container(4, "check", foreign, old),
      container(5, "session", foreign, { ...old, State: "created" }),
      container(6, "session", foreign, { ...old, State: "exited" }),
    ];
    const used = [
      container(11, "session", own),
      container(12, "session", foreign, old),
      container(13, "build", foreign),
      container(14, "session", foreign, { State: "created" }),
      container(15, "session", "nonsense", { ...old, State: "created" }),
      container(16, "session", { pid: "x" }, old),
      container(17, "session", { ...own, start: "" }),
      container(18, "worker", { ...own, ...dead }),
    ];
    const list = JSON.stringify([null, ...left, ...used]);
    const { engine, requests } = await openFakeEngine((request) =>
      request.startsWith("GET /containers/json") ? list : undefined,
    );
    expect(await removeStaleContainers(engine)).toBe(left.length);
    const removed = requests.flatMap(
      (request) => /^DELETE \/containers\/(?<id>\d+)/.exec(request)?.groups?.["id"] ?? [],
    );
    expect(removed.toSorted()).toEqual(left.map(({ Id }) => Id));
  });
});
