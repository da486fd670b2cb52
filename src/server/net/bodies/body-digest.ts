// The digest of a body while it is read, to tell whether two requests are the same.

import { createHash, type Hash } from "node:crypto";

export interface BodyDigest {
  readonly bytes: number;
  readonly sha256: string;
}

export class BodyHash {
  readonly #hash: Hash = createHash("sha256");
  #bytes = 0;

  update(chunk: Uint8Array): void {
    this.#hash.update(chunk);
    this.#bytes += chunk.length;
  }

  get digest(): BodyDigest {
    return { bytes: this.#bytes, sha256: this.#hash.copy().digest("base64") };
  }
}
