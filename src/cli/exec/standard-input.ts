// Reads standard input on demand.

import { once } from "node:events";
import { setImmediate } from "node:timers/promises";
import type { InputRequest } from "../../session/execution/input.ts";
import { toTerminalText } from "../../util/text/terminal-text.ts";

/** The next bytes, at least one; null at the end. A terminal gives a line, and a password is not echoed. */
export async function readStandardInput({ prompt, password, signal }: InputRequest): Promise<Uint8Array | null> {
  if (!password || !process.stdin.isTTY) return readChunk(signal);
  process.stdin.setRawMode(true); // before the prompt is visible
  await setImmediate(); // earlier output goes first
  process.stderr.write(toTerminalText(prompt));
  try {
    return await readHidden(signal);
  } finally {
    process.stdin.setRawMode(false);
    process.stderr.write("\n");
  }
}

async function readChunk(signal: AbortSignal): Promise<Buffer | null> {
  const { stdin } = process;
  for (;;) {
    const chunk = stdin.read() as Buffer | null;
    if (chunk !== null) return chunk;
    if (stdin.readableEnded || stdin.destroyed) return null;
    const over = new AbortController();
    const options = { signal: AbortSignal.any([signal, over.signal]) };
    try {
      await Promise.race([once(stdin, "readable", options), once(stdin, "end", options)]);
    } finally {
      over.abort();
    }
  }
}

/** A raw terminal sends keys. Handles Enter, Backspace, Ctrl-C and Ctrl-D. */
async function readHidden(signal: AbortSignal): Promise<Buffer | null> {
  const typed: number[] = [];
  for (;;) {
    for (const byte of (await readChunk(signal)) ?? [4]) {
      if (byte === 13 || byte === 10) return Buffer.from([...typed, 10]);
      if (byte === 4) return null;
      if (byte === 3) process.kill(process.pid, "SIGINT");
      else if (byte === 8 || byte === 127) dropCharacter(typed);
      else typed.push(byte);
    }
  }
}

/** Removes the last character with all its bytes. */
function dropCharacter(bytes: number[]): void {
  while (((bytes.pop() ?? 0) & 0xc0) === 0x80);
}
