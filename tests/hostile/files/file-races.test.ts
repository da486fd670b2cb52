// Code that swaps a file for a link while the host works with it.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { FileError, REPLSecurityError, type Execution, type Session } from "../../internals.ts";
import { begin, valueOf } from "../../open.ts";
import { openStage, type OpenStage } from "../stage.ts";

/** How often each operation is tried while code swaps files. */
const RACES: readonly [name: string, rounds: number, options: { readonly tags?: "stress" }][] = [
  ["races", 10, {}],
  ["long races", 200, { tags: "stress" }],
];

let stage: OpenStage;
beforeAll(async () => {
  stage = await openStage();
});
afterAll(() => stage?.[Symbol.asyncDispose]());

for (const [name, rounds, options] of RACES)
  describe(`${name}: code swaps a file, a folder and links while the host works`, options, () => {
    // `x` alternates between a file, a link to a secret, a folder and a link to a folder of secrets.
    const SWAP = `import os, itertools, shutil, tempfile
outside = tempfile.gettempdir()
os.makedirs(outside + '/secrets'); os.mkdir('forms')
open(outside + '/secrets/f', 'w').write('SECRET'); open(outside + '/secret', 'w').write('SECRET')
def make(kind, name):
    if kind == 'file': open(name, 'w').write('good')
    elif kind == 'folder': os.mkdir(name); open(name + '/f', 'w').write('good')
    elif kind == 'link': os.symlink(outside + '/secret', name)
    else: os.symlink(outside + '/secrets', name)
def clear(name):
    if os.path.isdir(name) and not os.path.islink(name): shutil.rmtree(name, ignore_errors=True)
    else: os.unlink(name)
print('up', flush=True)
for i, kind in enumerate(itertools.cycle(('file', 'folder', 'link', 'folder-link'))):
    for step in (lambda: make(kind, f'forms/{i}'), lambda: os.rename(f'forms/{i}', 'x'),
                 lambda: os.rename('x', f'forms/old{i}'), lambda: clear(f'forms/old{i}'), lambda: clear(f'forms/{i}')):
        try: step()
        except OSError: pass`;

    let session: Session;
    let running: Execution;
    beforeAll(async () => {
      session = await stage.runtime.openSession();
      running = await begin(session, SWAP);
    });
    afterAll(async () => {
      session.interrupt();
      expect((await running.result).status).toBe("interrupted");
      // In a new worker, too: on a busy machine the code may be killed before it notices the interrupt.
      (await session.execute("import os, tempfile; outside = tempfile.gettempdir()").result).unwrap();
      expect(await valueOf(session, "open(outside + '/secret').read() + open(outside + '/secrets/f').read()")).toBe(
        "'SECRETSECRET'",
      );
      expect(await valueOf(session, "sorted(os.listdir(outside)), os.listdir(outside + '/secrets')")).toBe(
        "(['secret', 'secrets'], ['f'])",
      );
      await session.close();
    });

    /** Repeats the operation; every failure must be a documented one. Returns what succeeded and what was refused. */
    async function repeat<T>(work: () => Promise<T>): Promise<{ worked: T[]; refused: number }> {
      const worked: T[] = [];
      let refused = 0;
      for (let round = 0; round < rounds; round += 1) {
        try {
          worked.push(await work());
        } catch (error) {
          if (error instanceof REPLSecurityError) refused += 1;
          else expect(error).toBeInstanceOf(FileError);
        }
      }
      return { worked, refused };
    }

    test("reading never gives what a link leads to", async () => {
      const read = async (path: string): Promise<string> => (await session.files.read(path)).toString();
      let met = { worked: false, refused: false };
      // Until both outcomes have occurred; otherwise the test would prove nothing.
      while (!met.worked || !met.refused) {
        for (const path of ["x", "x/f"]) {
          const { worked, refused } = await repeat(() => read(path));
          expect(worked.filter((text) => text !== "good" && text !== "")).toEqual([]);
          met = { worked: met.worked || worked.length > 0, refused: met.refused || refused > 0 };
        }
      }
    });

    test("writing never changes what a link leads to", async () => {
      await repeat(() => session.files.write("x", "overwritten"));
      await repeat(() => session.files.write("x/f", "overwritten"));
      await repeat(() => session.files.makeFolder("x/new"));
    });

    test("listing never shows what a link leads to", async () => {
      const { worked } = await repeat(() => session.files.list("x"));
      expect(worked.filter(({ entries }) => entries.some(({ size }) => size === "SECRET".length))).toEqual([]);
    });

    test("removing and renaming never reach through a link", async () => {
      await repeat(() => session.files.remove("x/f"));
      await repeat(() => session.files.rename("x/f", "x/g"));
      await repeat(() => session.files.remove("x"));
      await repeat(() => session.files.rename("x", "y"));
    });
  });
