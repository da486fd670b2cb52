import { expect, test } from "vitest";
import { Semaphore } from "../../../src/util/async/semaphore.ts";

test("Semaphore hands permits on in the order of the requests", async () => {
  const semaphore = new Semaphore(1, 10);
  const order: string[] = [];
  expect(await semaphore.acquire()).toBe(true);
  const waiting = ["a", "b"].map(async (name) => {
    await semaphore.acquire();
    order.push(name);
    semaphore.release();
  });
  expect({ order: [...order], held: semaphore.held }).toEqual({ order: [], held: 1 });
  semaphore.release();
  await Promise.all(waiting);
  expect({ order, held: semaphore.held }).toEqual({ order: ["a", "b"], held: 0 });
});

test("Semaphore refuses a permit when its queue is full", async () => {
  const semaphore = new Semaphore(1, 1);
  await semaphore.acquire();
  void semaphore.acquire();
  expect(await semaphore.acquire()).toBe(false);
});

test("Semaphore forgets a request whose signal is aborted", async () => {
  const semaphore = new Semaphore(1, 1);
  await semaphore.acquire();
  const controller = new AbortController();
  const given = semaphore.acquire(controller.signal);
  controller.abort(new Error("no longer"));
  await expect(given).rejects.toThrow("no longer");
  await expect(semaphore.acquire(controller.signal)).rejects.toThrow("no longer");
  semaphore.release();
  expect(semaphore.held).toBe(0);
});
