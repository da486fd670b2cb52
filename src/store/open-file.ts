// A file that this process has open already, known by its path in /proc: it may have no other name. It is written where it is, and whoever
// opened it decides what becomes of it.

import { closeSync, ftruncateSync, openSync } from "node:fs";

const OWN = /^\/proc\/self\/fd\/\d+$/;

export class OpenFile {
  readonly fd: number;
  #isOpen = true;

  static isOne(path: string): boolean {
    return OWN.test(path);
  }

  /** What is in it goes. Throws what the file system says. */
  constructor(path: string) {
    this.fd = openSync(path, "r+");
    ftruncateSync(this.fd, 0);
  }

  async keep(): Promise<void> {
    this.discard();
  }

  discard(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    closeSync(this.fd);
  }
}
