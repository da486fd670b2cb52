// The hostile corpus in any environment.
//
// A probe that an environment does not hold is declared with the reason. Declared probes are run as well: one that does hold fails, so
// that the list stays true.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { RuntimeOptions } from "../../internals.ts";
import { judge, type Probe } from "../../hostile/probe.ts";
import { openStage, readCorpus, type OpenStage } from "../../hostile/stage.ts";

/** What the kernel must deny or contain, by category of the corpus. */
export const KERNEL_CATEGORIES: readonly string[] =
  "fs-read fs-write host-files info-leak secrets network privilege cross-session control terminal lifecycle resource protocol".split(
    " ",
  );

export interface ProbesContract {
  /** Options of the runtime that is attacked. */
  readonly options?: RuntimeOptions;
  /** Categories of the corpus. */
  readonly categories: readonly string[];
  readonly languages: readonly Probe["language"][];
  /** Changes what runs before each probe, where the environment has other descriptors. Default: nothing is changed. */
  readonly toPrelude?: (prelude: string) => string;
  /** By the id of a probe: why it does not hold. */
  readonly expectedDifferences?: Readonly<Record<string, string>>;
  /** By the id of a probe: where it is tested instead. It is not run here. */
  readonly testedElsewhere?: Readonly<Record<string, string>>;
}

export function describeProbes(name: string, contract: ProbesContract): void {
  const { options = {}, categories, languages, expectedDifferences = {}, testedElsewhere = {} } = contract;
  const { toPrelude = (prelude: string) => prelude } = contract;
  const probes = ["sandbox-probes.json", "protocol-probes.json"].flatMap((file) => {
    const { prelude_python: prelude, probes: all } = readCorpus(file);
    const isOurs = file === "protocol-probes.json"; // the other file has those of another framing
    return all
      .filter(({ category, language }) => categories.includes(category) && languages.includes(language))
      .filter(({ id }) => !(id in testedElsewhere))
      .filter(({ category }) => isOurs || category !== "protocol")
      .map((probe) => ({ probe, prelude: toPrelude(prelude) }));
  });

  describe(`probes in ${name}`, () => {
    let stage: OpenStage;
    beforeAll(async () => {
      stage = await openStage(options);
    });
    afterAll(() => stage?.[Symbol.asyncDispose]());

    test("every declared difference is about a probe", () => {
      const ids = probes.map(({ probe }) => probe.id);
      expect(Object.keys(expectedDifferences).filter((id) => !ids.includes(id))).toEqual([]);
    });

    test.skip.each(Object.entries(testedElsewhere))("%s (%s)", () => {});

    test.each(probes.map(({ probe, prelude }) => [probe.id, probe, prelude] as const))(
      "%s",
      async (id, probe, prelude) => {
        const complaints = await judge(probe, prelude, stage);
        const why = expectedDifferences[id];
        if (why === undefined) expect(complaints.join("\n")).toBe("");
        else expect(complaints, `declared not to hold (${why}), but it holds`).not.toEqual([]);
      },
    );
  });
}
