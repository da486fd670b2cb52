import { assert, property, string } from "fast-check";
import { describe, expect, test } from "vitest";
import { hasHidden, toFileName, toSafeText } from "../../../web/src/parts/safe-text.ts";

describe("toSafeText()", () => {
  test("shows marks that reorder text, characters without width, and control characters", () => {
    expect(toSafeText("invoice\u202efdp.exe")).toBe("invoice\\u202efdp.exe");
    expect(toSafeText("a\u200bb\u2066c\ufeffd")).toBe("a\\u200bb\\u2066c\\ufeffd");
    expect(toSafeText("\u001b[31mred\u0007\u009b")).toBe("\\x1b[31mred\\x07\\x9b");
    expect(toSafeText("tag\u{e0041}")).toBe("tag\\u{e0041}");
    expect(toSafeText("half\ud800")).toBe("half\\ud800");
  });

  test("keeps what people write", () => {
    const written = "naïve Größe.txt 日本語 עברית हिन्दी 👩‍💻 ❤️";
    expect(toSafeText(written)).toBe(written);
    expect(hasHidden(written)).toBe(false);
  });

  test("shows line ends in a name, and keeps them in a text of several lines", () => {
    expect(toSafeText("a\nb\tc\r")).toBe("a\\nb\\tc\\r");
    expect(toSafeText("a\nb\tc\r", { hasLines: true })).toBe("a\nb\tc\\r");
  });

  test("shows a joiner that joins no pictures", () => {
    expect(toSafeText("user\u200dname")).toBe("user\\u200dname");
  });

  test("cuts what is too long", () => {
    expect(toSafeText("abcdef", { maxCharacters: 3 })).toBe("abc…");
  });

  test("leaves no character that hides, whatever the text", () => {
    assert(
      property(string({ unit: "binary" }), (text) => {
        // oxlint-disable-next-line no-control-regex -- these are what is looked for
        expect(toSafeText(text)).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069\u200b\ufeff]/u);
      }),
    );
  });
});

test.each([
  ["invoice\u202efdp.exe", "invoice_fdp.exe"],
  ["../../.bashrc", "__.._.bashrc"],
  [".profile", "_profile"],
  ["a\0b\nc", "a_b_c"],
  ['C:\\x<y>|"?*', "C__x_y_____"],
  ["…", "…"],
  ["", "file"],
  ["données 1.csv", "données 1.csv"],
])("the file %j is kept as %j", (name, kept) => {
  expect(toFileName(name)).toBe(kept);
});
