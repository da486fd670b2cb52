// A script that uses tools, with mistakes.

import type { BackendRequest } from "rlm-runtime";
import { block, whereIs } from "./model.ts";

const ROOT = [
  block("help(stock)"),
  block(`print(stock("lamp"), stock(item="chair", place="Oslo"))
try:
    stock("lamp", colour="red")
except Exception as error:
    print(type(error).__name__, error)`),
  block('print(file_read("rules.py", length=31)["text"])\nprint(execute_code("sum(range(10))")["value"])'),
  block(`answer = rlm_query("How many chairs are in Rome?", tools=["stock"])
FINAL(f"{answer} chairs")`),
];

const CHILD = [
  block('try:\n    file_read("rules.py")\nexcept NameError as error:\n    print(error)'),
  block('FINAL(stock("chair", "Rome")["count"])'),
];

export function playTools(request: BackendRequest): string {
  const { asked, step } = whereIs(request);
  return (asked.includes("How many chairs are in Rome") ? CHILD : ROOT)[step] ?? "";
}
