// A script for a question about code: the root finds the relevant files and passes them to another model.

import type { BackendRequest } from "rlm-runtime";
import { block, whereIs } from "./model.ts";

const ROOT = [
  block("{name: len(text) for name, text in context.items()}"),
  block(
    'files = {name: text for name, text in context.items() if "discount" in text}\nanswer = rlm_query("Who gets a discount, and how much?", files)\nanswer',
  ),
  block('FINAL(f"{250 * (1 - 0.15):.2f}. {answer}")'),
];

const CHILD = [
  block('print(context["rules.py"])'),
  block('FINAL("15 % after five years as a customer, else 5 % above 100 (rules.py, used by cart.py)")'),
];

export function playCodeBase(request: BackendRequest): string {
  const { asked, step } = whereIs(request);
  return (asked.includes("Who gets a discount") ? CHILD : ROOT)[step] ?? "";
}
