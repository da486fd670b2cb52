// A memory budget that many connections share: for request bodies that are read as a whole, and for messages that WebSockets have
// not received or sent completely.
//
// There are two ways to stay within it. `tryGrow` refuses what does not fit. A reservation with an owner always grows; past three
// quarters of the budget, the owners that have held the most for the longest are evicted, one after the other. Small reservations
// are not counted: the number of connections limits them, and most cost one comparison.

/** The holder of a reservation that can be evicted. */
export interface Evictable {
  /** Tells it to close. It accepts nothing any more, and stays counted until its reservation is closed. */
  dismiss(): void;
  /** Ends it now. */
  cut(): void;
}

export interface MemoryBudgetOptions {
  readonly maxBytes: number;
  /** Reservations up to this size are not counted. */
  readonly uncountedBytes: number;
  readonly now?: () => number;
}

const MAX_BYTES = 512 * 1024 * 1024;
export const BODY_MEMORY: MemoryBudgetOptions = { maxBytes: MAX_BYTES, uncountedBytes: 64 * 1024 };
export const MESSAGE_MEMORY: MemoryBudgetOptions = { maxBytes: MAX_BYTES, uncountedBytes: 16 * 1024 };
/** What a buffer of any size costs beside its bytes. */
export const BUFFER_OVERHEAD_BYTES = 512;
const TIGHT = 1 / 2;
const FULL = 3 / 4;

export class MemoryBudget {
  readonly uncountedBytes: number;
  readonly now: () => number;
  readonly #maxBytes: number;
  /** Of evictable owners, while they hold something. */
  readonly #reservations = new Set<Reservation>();
  readonly #dismissed = new Set<Reservation>();
  /** Reference counts: a frame for all watchers of a session is in memory once. */
  readonly #buffers = new Map<Buffer, number>();
  #usedBytes = 0;

  constructor({ maxBytes, uncountedBytes, now = () => performance.now() }: MemoryBudgetOptions) {
    this.#maxBytes = maxBytes;
    this.uncountedBytes = uncountedBytes;
    this.now = now;
  }

  get usedBytes(): number {
    return this.#usedBytes;
  }

  /** More than half is used: holders should hold less. */
  get isTight(): boolean {
    return this.#usedBytes > this.#maxBytes * TIGHT;
  }

  /** Without an owner it cannot be evicted, and should grow with `tryGrow` only. */
  reserve(owner?: Evictable): Reservation {
    return new Reservation(this, owner);
  }

  /** For Reservation, as are those below. */
  fits(bytes: number): boolean {
    return this.#usedBytes + bytes <= this.#maxBytes;
  }

  change(reservation: Reservation, bytes: number): void {
    this.#usedBytes += bytes;
    if (!reservation.isEvictable) return;
    if (reservation.heldBytes > 0) this.#reservations.add(reservation);
    else {
      this.#reservations.delete(reservation);
      this.#dismissed.delete(reservation);
    }
    if (bytes > 0 && this.#usedBytes > this.#maxBytes * FULL) this.#evict();
  }

  retain(buffer: Buffer): void {
    const count = this.#buffers.get(buffer) ?? 0;
    this.#buffers.set(buffer, count + 1);
    if (count === 0) this.#usedBytes += buffer.length;
  }

  release(buffer: Buffer): void {
    const count = this.#buffers.get(buffer) ?? 0;
    if (count > 1) {
      this.#buffers.set(buffer, count - 1);
      return;
    }
    this.#buffers.delete(buffer);
    this.#usedBytes -= buffer.length;
  }

  /** Dismissed owners may take a moment, as long as the budget lasts. */
  #evict(): void {
    if (this.#usedBytes > this.#maxBytes) for (const reservation of this.#dismissed) reservation.cut();
    let leavingBytes = 0;
    for (const { heldBytes } of this.#dismissed) leavingBytes += heldBytes;
    while (this.#usedBytes - leavingBytes > this.#maxBytes * FULL) {
      const reservation = this.#greediest();
      if (reservation === undefined) return;
      if (reservation.dismiss() === "leaving") {
        this.#dismissed.add(reservation);
        leavingBytes += reservation.heldBytes;
      }
    }
  }

  #greediest(): Reservation | undefined {
    const now = this.now();
    let greediest: Reservation | undefined;
    let most = 0;
    for (const reservation of this.#reservations) {
      const greed = this.#dismissed.has(reservation) ? 0 : reservation.heldBytes * (1 + now - reservation.since);
      if (greed <= most) continue;
      greediest = reservation;
      most = greed;
    }
    return greediest;
  }
}

/** What one connection holds. Closed, it is empty and never grows again. */
export class Reservation implements Disposable {
  readonly #budget: MemoryBudget;
  readonly #owner: Evictable | undefined;
  #buffers: Set<{ readonly buffer: Buffer }> | undefined;
  #requestedBytes = 0;
  #ownBytes = 0;
  #bufferBytes = 0;
  #since = 0;
  #isClosed = false;

  /** Use `MemoryBudget.reserve`. */
  constructor(budget: MemoryBudget, owner: Evictable | undefined) {
    this.#budget = budget;
    this.#owner = owner;
  }

  get isTight(): boolean {
    return this.#budget.isTight;
  }

  get isEvictable(): boolean {
    return this.#owner !== undefined;
  }

  get heldBytes(): number {
    return this.#ownBytes + this.#bufferBytes;
  }

  /** When it began to hold something. */
  get since(): number {
    return this.#since;
  }

  /** False: it does not fit, and is not counted. */
  tryGrow(bytes: number): boolean {
    if (this.#isClosed) return false;
    this.#requestedBytes += bytes;
    const isGranted = this.#budget.fits(this.#toCounted(this.#requestedBytes) - this.#ownBytes);
    if (isGranted) this.resize(this.#requestedBytes);
    return isGranted;
  }

  /** Its bytes beside held buffers. Never refused; may evict owners, its own included. */
  resize(bytes: number): void {
    const change = this.#isClosed ? 0 : this.#toCounted(bytes) - this.#ownBytes;
    if (change === 0) return;
    this.#markStart();
    this.#ownBytes += change;
    this.#budget.change(this, change);
  }

  /** Holds a buffer, which other reservations may hold too, until the returned function is called. Never refused. */
  hold(buffer: Buffer): () => void {
    if (this.#isClosed) return () => {};
    const held = { buffer };
    this.#markStart();
    (this.#buffers ??= new Set()).add(held);
    this.#bufferBytes += buffer.length + BUFFER_OVERHEAD_BYTES;
    this.#budget.retain(buffer);
    this.#budget.change(this, BUFFER_OVERHEAD_BYTES);
    return () => this.#release(held);
  }

  releaseBuffers(): void {
    for (const held of this.#buffers ?? []) this.#release(held);
  }

  /** `gone`: it holds buffers that its client does not read, so it could not learn why, and was cut. */
  dismiss(): "leaving" | "gone" {
    const canBeNotified = (this.#buffers?.size ?? 0) === 0;
    this.#owner?.dismiss();
    if (canBeNotified) return "leaving";
    this.cut();
    return "gone";
  }

  cut(): void {
    this.#owner?.cut();
    this.close();
  }

  close(): void {
    if (this.#isClosed) return;
    this.releaseBuffers();
    this.resize(0);
    this.#isClosed = true;
  }

  [Symbol.dispose](): void {
    this.close();
  }

  #toCounted(bytes: number): number {
    return bytes > this.#budget.uncountedBytes ? bytes : 0;
  }

  #markStart(): void {
    if (this.heldBytes === 0) this.#since = this.#budget.now();
  }

  #release(held: { readonly buffer: Buffer }): void {
    if (this.#buffers?.delete(held) !== true) return;
    const { buffer } = held;
    this.#bufferBytes -= buffer.length + BUFFER_OVERHEAD_BYTES;
    this.#budget.release(buffer);
    this.#budget.change(this, -BUFFER_OVERHEAD_BYTES);
  }
}
