// Memory for what all WebSockets hold together: messages that are not whole yet, and frames that wait to be taken. Each may hold much, and
// there may be thousands.
//
// What is small is not counted, so that the others cost an addition. From half of the room on, slow readers are read to in smaller pieces;
// at three quarters whoever held the most for the longest is told and let go, one after the other; those who were told may take a moment
// to go, as long as the room lasts.

/** A socket that may have to go. */
export interface Holder {
  /** It is asked to go, and takes nothing any more. */
  dismiss(): void;
  /** It is gone now. */
  cut(): void;
}

const DEFAULT_BYTES = 512 * 1024 * 1024;
/** What is no larger is not counted: the number of connections bounds it. */
export const SMALL_BYTES = 16 * 1024;
/** What a piece of any size costs beside its bytes. */
export const PIECE_BYTES = 512;
const TIGHT = 1 / 2;
const FULL = 3 / 4;

export class MessageRoom {
  readonly #maxBytes: number;
  readonly #now: () => number;
  readonly #shares = new Set<Share>();
  readonly #dismissed = new Set<Share>();
  /** By how many sockets each is waited for: a frame for all watchers of a session is there once. */
  readonly #frames = new Map<Buffer, number>();
  #bytes = 0;

  constructor(maxBytes = DEFAULT_BYTES, now: () => number = () => performance.now()) {
    this.#maxBytes = maxBytes;
    this.#now = now;
  }

  /** That are counted. */
  get bytes(): number {
    return this.#bytes;
  }

  /** It is time to hold less. */
  get isTight(): boolean {
    return this.#bytes > this.#maxBytes * TIGHT;
  }

  share(holder: Holder): Share {
    const ports: SharePorts = {
      room: this,
      holder,
      now: this.#now,
      change: (share, bytes) => this.#change(share, bytes),
      hold: (frame) => this.#hold(frame),
      release: (frame) => this.#release(frame),
    };
    return new Share(ports);
  }

  #hold(frame: Buffer): void {
    const count = this.#frames.get(frame) ?? 0;
    this.#frames.set(frame, count + 1);
    if (count === 0) this.#bytes += frame.length;
  }

  #release(frame: Buffer): void {
    const count = this.#frames.get(frame) ?? 0;
    if (count > 1) {
      this.#frames.set(frame, count - 1);
      return;
    }
    this.#frames.delete(frame);
    this.#bytes -= frame.length;
  }

  /** By so many bytes, frames aside. */
  #change(share: Share, bytes: number): void {
    this.#bytes += bytes;
    if (share.heldBytes > 0) this.#shares.add(share);
    else {
      this.#shares.delete(share);
      this.#dismissed.delete(share);
    }
    if (bytes > 0 && this.#bytes > this.#maxBytes * FULL) this.#relieve();
  }

  #relieve(): void {
    if (this.#bytes > this.#maxBytes) for (const share of this.#dismissed) share.cut();
    let leaving = 0;
    for (const { heldBytes } of this.#dismissed) leaving += heldBytes;
    while (this.#bytes - leaving > this.#maxBytes * FULL) {
      const share = this.#greediest();
      if (share === undefined) return;
      if (share.dismiss() === "goes") {
        this.#dismissed.add(share);
        leaving += share.heldBytes;
      }
    }
  }

  #greediest(): Share | undefined {
    const now = this.#now();
    let greediest: Share | undefined;
    let most = 0;
    for (const share of this.#shares) {
      const greed = this.#dismissed.has(share) ? 0 : share.heldBytes * (1 + now - share.since);
      if (greed <= most) continue;
      greediest = share;
      most = greed;
    }
    return greediest;
  }
}

interface SharePorts {
  readonly room: MessageRoom;
  readonly holder: Holder;
  now(): number;
  change(share: Share, bytes: number): void;
  hold(frame: Buffer): void;
  release(frame: Buffer): void;
}

/** What one socket holds. */
export class Share {
  readonly #ports: SharePorts;
  readonly #out = new Set<{ readonly frame: Buffer }>();
  #inBytes = 0;
  #outBytes = 0;
  #since = 0;
  #isOver = false;

  /** Use `MessageRoom.share`. */
  constructor(ports: SharePorts) {
    this.#ports = ports;
  }

  get isTight(): boolean {
    return this.#ports.room.isTight;
  }

  get heldBytes(): number {
    return this.#inBytes + this.#outBytes;
  }

  /** Since when it holds something. */
  get since(): number {
    return this.#since;
  }

  /** So much is there of a message that is not whole yet. */
  setIn(bytes: number): void {
    const counted = bytes > SMALL_BYTES && !this.#isOver ? bytes : 0;
    if (counted === this.#inBytes) return;
    const change = counted - this.#inBytes;
    this.#begin();
    this.#inBytes = counted;
    this.#ports.change(this, change);
  }

  /** A frame waits to be taken. Call what is returned when it was. */
  addOut(frame: Buffer): () => void {
    const held = { frame };
    if (this.#isOver) return () => {};
    this.#begin();
    this.#out.add(held);
    this.#outBytes += frame.length + PIECE_BYTES;
    this.#ports.hold(frame);
    this.#ports.change(this, PIECE_BYTES);
    return () => this.#taken(held);
  }

  /** Nothing waits, or too little to count. */
  clearOut(): void {
    for (const held of this.#out) this.#taken(held);
  }

  /** `goes`: it was told, and is counted until it is closed; `gone`: it would not have heard it. */
  dismiss(): "goes" | "gone" {
    const canHear = this.#out.size === 0;
    this.#ports.holder.dismiss();
    if (canHear) return "goes";
    this.cut();
    return "gone";
  }

  cut(): void {
    this.#ports.holder.cut();
    this.close();
  }

  /** Nothing is held any more, and nothing will be. */
  close(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.clearOut();
    const bytes = this.#inBytes;
    this.#inBytes = 0;
    this.#ports.change(this, -bytes);
  }

  #begin(): void {
    if (this.heldBytes === 0) this.#since = this.#ports.now();
  }

  #taken(held: { readonly frame: Buffer }): void {
    if (!this.#out.delete(held)) return;
    const { frame } = held;
    this.#outBytes -= frame.length + PIECE_BYTES;
    this.#ports.release(frame);
    this.#ports.change(this, -PIECE_BYTES);
  }
}
