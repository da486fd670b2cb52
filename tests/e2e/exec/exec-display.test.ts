import { expect, test } from "vitest";
import { rlm } from "../program.ts";

const CODE = "print('a')\ndisplay('b')\ndisplay({'image/png': b'not one', 'text/plain': 'p'}, raw=True)\nprint('c')";

test("rlm exec prints displays as text in order, and images as a line on stderr", async () => {
  expect(await rlm(["exec", "-c", CODE])).toMatchObject({
    code: 0,
    stdout: "a\n'b'\nc\n",
    stderr: "[image/png, 1 KiB: p]\n",
  });
});

test("rlm exec --json has displays in its JSON and nothing else", async () => {
  const { stdout, stderr } = await rlm(["exec", "--json", "-c", CODE]);
  expect(stderr).toBe("");
  expect(JSON.parse(stdout)).toMatchObject({
    stdout: "a\nc\n",
    displays: [{ "text/plain": "'b'" }, { "image/png": "bm90IG9uZQ==", "text/plain": "p" }],
  });
});
