import { expect, test } from "vitest";
import { ChildContexts } from "../../../src/rlm/calls/child-contexts.ts";

type Fetch = ConstructorParameters<typeof ChildContexts>[0]["fetch"];
type Spooled = Awaited<ReturnType<Fetch>>;

const never = new AbortController().signal;

/** Sources that count how often they are fetched, and how many of their files are open. */
class Sources {
  fetched = 0;
  open = 0;
  most = 0;

  readonly fetch: Fetch = async () => {
    this.fetched += 1;
    this.open += 1;
    this.most = Math.max(this.most, this.open);
    const close = (): void => void (this.open -= 1);
    return { path: "/nowhere", sizeBytes: 1, [Symbol.dispose]: close } as unknown as Spooled;
  };
}

const taskOf = (source: number) => ({ context: null, offered: { source, kind: "bytes" as const } });
const numbers = Array.from({ length: 1_000 }, (_, at) => at);

test("however many contexts come twice, few files are open", async () => {
  const sources = new Sources();
  const tasks = [...numbers, ...numbers].map(taskOf);
  {
    await using contexts = new ChildContexts(sources, tasks);
    for (let at = 0; at < tasks.length; at += 10) {
      const opened = await Promise.all(tasks.slice(at, at + 10).map((task) => contexts.open(task, never)));
      for (const one of opened) await one[Symbol.asyncDispose]();
    }
    expect(sources.open).toBe(0);
  }
  expect(sources.most).toBeLessThanOrEqual(10 + 8);
  expect(sources.fetched).toBeLessThanOrEqual(2_000);
});

test("a context that many children share is fetched once, also where they come one by one", async () => {
  const sources = new Sources();
  const tasks = numbers.map(() => taskOf(3));
  await using contexts = new ChildContexts(sources, tasks);
  for (const task of tasks) {
    await using one = await contexts.open(task, never);
    expect(one.items).toMatchObject([{ name: "context", kind: "bytes", bytes: 1 }]);
    expect(sources.open).toBe(1);
  }
  expect([sources.fetched, sources.open]).toEqual([1, 0]);
});

test("what was fetched for a child that never started is closed at the end", async () => {
  const sources = new Sources();
  {
    await using contexts = new ChildContexts(sources, [taskOf(1), taskOf(1), taskOf(2)]);
    await (await contexts.open(taskOf(1), never))[Symbol.asyncDispose]();
    expect(sources.open).toBe(1);
  }
  expect(sources.open).toBe(0);
});
