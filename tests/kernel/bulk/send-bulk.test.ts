import { expect, test } from "vitest";
import type { Worker } from "../../../src/environments/environment.ts";
import { sendBulk } from "../../../src/kernel/bulk/send-bulk.ts";

const MIB = 2 ** 20;

/** A worker that records what it is sent, as lines and payload lengths. */
function record(): { readonly sent: string[]; readonly worker: Worker; inFlight: () => number } {
  const sent: string[] = [];
  let [flying, most] = [0, 0];
  const worker = {
    command(line: string, payload?: Uint8Array) {
      sent.push(payload === undefined ? line : `${line} +${payload.length}`);
      flying += payload?.length ?? 0;
      most = Math.max(most, flying);
    },
    async commandTaken() {
      await new Promise(setImmediate);
      flying = 0;
    },
  } as unknown as Worker;
  return { sent, worker, inFlight: () => most };
}

async function* pieces(...sizes: readonly number[]): AsyncGenerator<Uint8Array> {
  for (const size of sizes) yield new Uint8Array(size);
}

const of = (
  sizeBytes: number,
  source: AsyncIterable<Uint8Array>,
): AsyncIterable<Uint8Array> & { sizeBytes: number } => ({
  sizeBytes,
  [Symbol.asyncIterator]: () => source[Symbol.asyncIterator](),
});

test("sendBulk() sends counted pieces, one at a time, and marks the end", async () => {
  const { sent, worker, inFlight } = record();
  await sendBulk(worker, of(2.5 * MIB + 3, pieces(2.5 * MIB, 3)), () => true);
  const lengths = [MIB, MIB, MIB / 2, 3].map((length) => `{"bytes":${length}} +${length}`);
  expect(sent).toEqual([...lengths, '{"end":true}']);
  expect(inFlight()).toBe(MIB);
});

test.each([
  ["has less than it said", of(10, pieces(4)), "it shrank while it was read"],
  ["has more than it said", of(4, pieces(3, 3)), "it grew while it was read"],
  [
    "fails",
    of(
      10,
      (async function* () {
        yield new Uint8Array(4);
        throw new Error("EIO: the disk is broken");
      })(),
    ),
    "EIO: the disk is broken",
  ],
])("sendBulk() reports a source that %s after the pieces", async (_, source, why) => {
  const { sent, worker } = record();
  await sendBulk(worker, source, () => true);
  expect(sent.at(-1)).toBe(JSON.stringify({ failed: why }));
  expect(sent.filter((line) => !line.startsWith('{"bytes"'))).toHaveLength(1);
});

test("sendBulk() stops when the bytes are not wanted any more, and closes the source", async () => {
  const { sent, worker } = record();
  let isClosed = false;
  async function* endless(): AsyncGenerator<Uint8Array> {
    try {
      for (;;) yield new Uint8Array(10);
    } finally {
      isClosed = true;
    }
  }
  await sendBulk(worker, of(Number.MAX_SAFE_INTEGER, endless()), () => sent.length < 3);
  expect(sent.slice(-2)).toEqual(['{"bytes":10} +10', '{"failed":"it was stopped"}']);
  expect(isClosed).toBe(true);
});
