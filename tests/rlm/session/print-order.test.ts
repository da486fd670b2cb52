import * as fc from "fast-check";
import { expect, test } from "vitest";
import { PrintOrder } from "../../../src/rlm/session/print-order.ts";

const pieces = fc.array(fc.tuple(fc.constantFrom("stdout" as const, "stderr" as const), fc.string({ minLength: 1 })));

test("the texts and the recorded order give back what was printed", () => {
  fc.assert(
    fc.property(pieces, (all) => {
      const order = new PrintOrder();
      const texts = { stdout: "", stderr: "" };
      for (const [stream, text] of all) {
        order.add(stream, text);
        texts[stream] += text;
      }
      const parts = order.of(texts);
      if (texts.stdout === "" || texts.stderr === "") {
        expect(parts).toBeUndefined();
        return;
      }
      const at = { stdout: 0, stderr: 0 };
      const printed = (parts ?? []).map(({ stream, characters }) => {
        at[stream] += characters;
        return texts[stream].slice(at[stream] - characters, at[stream]);
      });
      expect(printed.join("")).toBe(all.map(([, text]) => text).join(""));
    }),
  );
});

test("output that was cut has no order", () => {
  const order = new PrintOrder();
  order.add("stdout", "a long text");
  order.add("stderr", "x");
  expect(order.of({ stdout: "a … t", stderr: "x" })).toBeUndefined();
});

test("past ten thousand changes no order is kept", () => {
  const order = new PrintOrder();
  const texts = { stdout: "", stderr: "" };
  for (let n = 0; n < 10_002; n += 1) {
    const stream = n % 2 === 0 ? "stdout" : "stderr";
    order.add(stream, "x");
    texts[stream] += "x";
  }
  expect(order.of(texts)).toBeUndefined();
});
