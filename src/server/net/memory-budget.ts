// Memory for bodies that are read as a whole, all requests together: each alone may be large, and there may be many.

const DEFAULT_BYTES = 512 * 1024 * 1024;
/** What is no larger is not counted: the number of requests bounds it. */
const SMALL_BYTES = 64 * 1024;

/** What one body takes, until it is disposed of; from then on it gets nothing, whoever still reads. */
export interface Hold extends Disposable {
  /** False: there is no room for so much more. */
  take(bytes: number): boolean;
}

export class BodyRoom {
  #leftBytes: number;

  constructor(bytes = DEFAULT_BYTES) {
    this.#leftBytes = bytes;
  }

  get leftBytes(): number {
    return this.#leftBytes;
  }

  hold(): Hold {
    let seen = 0;
    let held = 0;
    let isOver = false;
    return {
      take: (bytes) => {
        if (isOver) return false;
        seen += bytes;
        if (seen <= SMALL_BYTES) return true;
        const more = seen - held;
        if (more > this.#leftBytes) return false;
        this.#leftBytes -= more;
        held = seen;
        return true;
      },
      [Symbol.dispose]: () => {
        isOver = true;
        this.#leftBytes += held;
        held = 0;
      },
    };
  }
}
