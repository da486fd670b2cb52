import { expect, test } from "vitest";
import { findPlace } from "../../../web/src/parts/overlay/find-place.ts";

const view = { width: 400, height: 300 };
const popup = { width: 150, height: 100 };

test("findPlace() is below what opened it", () => {
  expect(findPlace(popup, { left: 20, right: 60, top: 10, bottom: 40 }, view)).toEqual({ left: 20, top: 44 });
});

test("findPlace() goes to the left and above where there is no room", () => {
  expect(findPlace(popup, { left: 350, right: 390, top: 250, bottom: 280 }, view)).toEqual({ left: 240, top: 146 });
});

test("findPlace() stays inside of the window", () => {
  const large = { width: 390, height: 290 };
  expect(findPlace(large, { left: 350, right: 390, top: 150, bottom: 180 }, view)).toEqual({ left: 8, top: 8 });
});
