// Parses sizes: `512m`, `2g`, `2GiB`, or a number of bytes.

const UNITS: Readonly<Record<string, number>> = { "": 1, k: 1024, m: 1024 ** 2, g: 1024 ** 3 };

/** In bytes. Undefined: not a size. */
export function parseSize(text: string): number | undefined {
  const match = /^(?<amount>\d+(?:\.\d+)?)(?<unit>[kmg]?)(?:i?b)?$/i.exec(text);
  const unit = UNITS[match?.groups?.["unit"]?.toLowerCase() ?? "?"];
  const bytes = Math.round(Number(match?.groups?.["amount"]) * (unit ?? Number.NaN));
  return Number.isSafeInteger(bytes) ? bytes : undefined;
}
