// A file that this process has open, addressed by its path in /proc/self/fd: it may have no other name. It is
// written in place, and belongs to the code that opened it.

import { closeSync, ftruncateSync, openSync } from "node:fs";

const DESCRIPTOR_PATH = /^\/proc\/self\/fd\/\d+$/;

export class DescriptorFile {
  readonly fd: number;
  #isOpen = true;

  static matches(path: string): boolean {
    return DESCRIPTOR_PATH.test(path);
  }

  /** Truncates the file. Throws the file system's errors. */
  constructor(path: string) {
    this.fd = openSync(path, "r+");
    ftruncateSync(this.fd, 0);
  }

  async commit(): Promise<void> {
    this.discard();
  }

  discard(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    closeSync(this.fd);
  }
}
