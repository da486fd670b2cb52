// The probes of the corpus that must be denied, in sessions of tier C that share the user of the host.

import { afterAll, beforeAll, expect, test } from "vitest";
import { expand } from "../probe.ts";
import { openStage, readCorpus, type OpenStage } from "../stage.ts";
import { isRoot, openHosts, USER, type Hosts } from "./container-host.ts";

/** What an ordinary user's sessions do not hold, and why. */
const NOT_HELD: Readonly<Record<string, string>> = {
  "proc-fd-of-parent": "numbers of descriptors are listed, where process 1 has the same user; not what they are",
  "host-sees-hostpids": "there is no process namespace",
  "proc-cmdline-scan": "there is no process namespace",
};
const corpus = readCorpus("sandbox-probes.json");

let stage: OpenStage;
let hosts: Hosts;
beforeAll(async () => {
  [stage, hosts] = await Promise.all([openStage(), openHosts()]);
});
afterAll(async () => {
  await stage?.[Symbol.asyncDispose]();
  hosts?.[Symbol.dispose]();
});

test(
  "what must be denied is denied to sessions of an ordinary user (Landlock of this kernel)",
  { tags: "stress" },
  () => expectDenials({}),
);

test.each([["of Linux 5.19", "2"]])(
  "what must be denied is denied to sessions of an ordinary user (Landlock %s)",
  { tags: "stress" },
  (_, version) => expectDenials({ RLM_SANDBOX_LANDLOCK: version }),
);

async function expectDenials(env: Readonly<Record<string, string>>): Promise<void> {
  const denied = corpus.probes.filter(
    ({ id, language, category, expected, sibling_setup: setup }) =>
      language === "python" &&
      category !== "protocol" &&
      expected === "denied" &&
      setup === undefined &&
      !(id in NOT_HELD),
  );
  expect(denied.length).toBeGreaterThan(50);
  const values = { ...stage.values, SID: "s", EID: "s.2", SLEEPMARK: "1" };
  const prelude = corpus.prelude_python;
  const probes = denied.map(({ id, code }) => ({ id, prelude, code: expand(code, values), timeoutMs: 20_000 }));
  const owner = isRoot ? { owner: { uid: USER, gid: USER } } : {};
  const results = await hosts.probe({ ...owner, env }, probes);
  const isHeld = ({ value, after }: (typeof results)[number]): boolean =>
    /^.DENIED/.test(value?.["text/plain"] ?? "") && after?.["text/plain"] === "2";
  expect(results).toHaveLength(probes.length);
  expect(results.filter((result) => !isHeld(result))).toEqual([]);
}
