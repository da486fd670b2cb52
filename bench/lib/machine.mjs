// Describes the machine of the measurements.

import { execFileSync } from "node:child_process";
import { cpus, loadavg, release } from "node:os";
import { PYTHON } from "./processes.mjs";

export function describeMachine() {
  const python = execFileSync(PYTHON, ["-V"], { encoding: "utf8" }).trim();
  const processors = cpus();
  return {
    date: new Date().toISOString().slice(0, 16).replace("T", " "),
    processor: `${processors.length} x ${processors[0]?.model.trim() || "unknown processor"}`,
    kernel: `Linux ${release()}`,
    node: `Node ${process.versions.node}`,
    python,
    load: loadavg()[0].toFixed(1),
  };
}
