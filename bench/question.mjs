// Runs one question in a separate process, so that none inherits the memory, the core or the leftovers of another.
//
//   node --expose-gc bench/question.mjs NAME [--quick]      started by run.mjs; manually it prints its messages

import { endProcesses } from "./lib/processes.mjs";
import { closeRuntimes } from "./lib/runtime.mjs";

const [name, ...flags] = process.argv.slice(2);
const send = (message) => (process.send ? process.send(message) : console.log(JSON.stringify(message)));

const failed = (error) => {
  console.error(error);
  send({ kind: "failed", why: error.message ?? String(error) });
  process.exitCode = 1;
};

try {
  const { measure } = await import(`./${name}.mjs`);
  await measure({
    quick: flags.includes("--quick"),
    row: (row) => send({ kind: "row", ...row }),
    /** Runs a part. A failure is reported and does not stop the others. */
    part: (measurePart, ...args) => measurePart(...args).catch(failed),
    note: (text) => send({ kind: "note", text }),
    absent: (peer, why) => send({ kind: "absent", peer, why }),
    scale: (measured) => send({ kind: "scale", ...measured }),
    delay: (phase, delay) => send({ kind: "delay", phase, ...delay }),
  });
} catch (error) {
  failed(error);
} finally {
  await closeRuntimes();
  await endProcesses();
  process.disconnect?.();
}
