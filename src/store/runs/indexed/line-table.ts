// Where the events of a log are: one entry for each line, in the order of their numbers. Compact, since a log may have a million lines.

import type { EventPosition } from "../../../protocol/run-outline/outline-builder.ts";
import type { LineSpan } from "../event-decoder.ts";

/** Later lines are not indexed. */
const MAX_LINES = 2_000_000;
/** Lines of later nodes are found among all, but not by their node. */
const MAX_NODES = 100_000;
/** Approximate memory of an id without its characters. */
const ID_BYTES = 100;
const FIRST_CAPACITY = 1024;
const NONE = -1;

export type TableEntry = EventPosition & LineSpan;

interface Columns {
  readonly seq: Float64Array;
  readonly offset: Float64Array;
  readonly bytes: Float64Array;
  /** The index of the node's id, or NONE. */
  readonly node: Int32Array;
  readonly step: Float64Array;
}

export class LineTable {
  #columns = createColumns(FIRST_CAPACITY);
  #length = 0;
  readonly #nodeIds: string[] = [];
  readonly #nodeOf = new Map<string, number>();
  #idCharacters = 0;

  get length(): number {
    return this.#length;
  }

  get isFull(): boolean {
    return this.#length >= MAX_LINES;
  }

  /** Of memory. */
  get byteSize(): number {
    const ids = this.#nodeIds.length * ID_BYTES + this.#idCharacters * 2;
    return Object.values(this.#columns).reduce((sum, { byteLength }) => sum + byteLength, ids);
  }

  add({ offset, bytes }: LineSpan, { seq, nodeId, step }: EventPosition): void {
    if (this.#length === this.#columns.seq.length) this.#grow();
    const at = this.#length;
    this.#length += 1;
    this.#columns.seq[at] = seq;
    this.#columns.offset[at] = offset;
    this.#columns.bytes[at] = bytes;
    this.#columns.node[at] = nodeId === null ? NONE : this.#indexOf(nodeId);
    this.#columns.step[at] = step ?? NONE;
  }

  /** Entries after an event, in order; of one node, or of one step of it. */
  *after(seq: number, only: { readonly nodeId?: string; readonly step?: number } = {}): Generator<TableEntry> {
    const wanted = only.nodeId === undefined ? undefined : this.#nodeOf.get(only.nodeId);
    if (only.nodeId !== undefined && wanted === undefined) return;
    for (let at = this.#firstAfter(seq); at < this.#length; at += 1) {
      const { node, step } = this.#columns; // others once the table has grown
      if (wanted !== undefined && node[at] !== wanted) continue;
      if (only.step === undefined || step[at] === only.step) yield this.#entry(at);
    }
  }

  #entry(at: number): TableEntry {
    const { seq, offset, bytes, node, step } = this.#columns;
    const [found, nodeAt] = [step[at] ?? NONE, node[at] ?? NONE];
    return {
      seq: seq[at] ?? 0,
      offset: offset[at] ?? 0,
      bytes: bytes[at] ?? 0,
      nodeId: this.#nodeIds[nodeAt] ?? null,
      step: found === NONE ? null : found,
    };
  }

  #firstAfter(seq: number): number {
    let [low, high] = [0, this.#length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#columns.seq[middle] ?? 0) > seq) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  #indexOf(nodeId: string): number {
    const known = this.#nodeOf.get(nodeId);
    if (known !== undefined) return known;
    if (this.#nodeIds.length >= MAX_NODES) return NONE;
    this.#idCharacters += nodeId.length;
    this.#nodeOf.set(nodeId, this.#nodeIds.length);
    return this.#nodeIds.push(nodeId) - 1;
  }

  #grow(): void {
    const columns = createColumns(this.#columns.seq.length * 2);
    columns.seq.set(this.#columns.seq);
    columns.offset.set(this.#columns.offset);
    columns.bytes.set(this.#columns.bytes);
    columns.node.set(this.#columns.node);
    columns.step.set(this.#columns.step);
    this.#columns = columns;
  }
}

function createColumns(capacity: number): Columns {
  return {
    seq: new Float64Array(capacity),
    offset: new Float64Array(capacity),
    bytes: new Float64Array(capacity),
    node: new Int32Array(capacity),
    step: new Float64Array(capacity),
  };
}
