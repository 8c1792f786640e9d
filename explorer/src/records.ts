// What was recorded: values at ticks, which are iterations of the loops around them.

import type { AxisInfo, Column, Numbers, Packed, Recorded, Reference, TraceInfo } from "./document";

/** The iteration of each loop that is looked at, by the loop's path. */
export type At = Map<string, number>;

/** The iterations that a page has of the loops around a body, in the order in which they ran. */
export class Axis {
  readonly rows: Column;
  readonly count: number;
  readonly depth: number;
  readonly isSampled: boolean;
  private readonly codes?: Column;

  constructor(readonly info: AxisInfo, packed: Packed) {
    this.rows = packed.array(info.rows);
    this.depth = info.loops.length;
    this.count = this.rows.length / this.depth;
    this.codes = info.codes && packed.array(info.codes);
    this.isSampled = info.codes !== undefined;
  }

  row(tick: number): number[] {
    return Array.from({ length: this.depth }, (_, k) => this.rows[tick * this.depth + k]);
  }

  /** The rank of a tick among all iterations. */
  rank(tick: number): number {
    return this.codes === undefined ? tick : this.codes[tick];
  }

  /** The tick of the iterations looked at; -1 where the loop did not run in them. */
  tick(at: At): number {
    const wanted = this.info.loops.map((loop) => at.get(loop) ?? 0);
    let low = 0;
    let high = this.count;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.isAfter(middle, wanted)) high = middle;
      else low = middle + 1;
    }
    const tick = Math.max(0, low - 1);
    const around = this.row(tick).slice(0, -1);
    const fits = this.isSampled || around.every((each, k) => each === wanted[k]);
    return fits && this.count > 0 ? tick : -1;
  }

  private isAfter(tick: number, wanted: number[]): boolean {
    for (let k = 0; k < this.depth; k++) {
      const difference = this.rows[tick * this.depth + k] - wanted[k];
      if (difference !== 0) return difference > 0;
    }
    return false;
  }
}

abstract class Rows {
  readonly axis?: Axis;
  private readonly ticks?: Column;
  abstract readonly count: number;

  constructor(info: { axis?: number; ticks?: Reference }, trace: Trace) {
    this.axis = info.axis === undefined ? undefined : trace.axes[info.axis];
    this.ticks = info.ticks && trace.packed.array(info.ticks);
  }

  /** The row at a tick; -1 where nothing was recorded. */
  rowAt(tick: number): number {
    if (this.axis === undefined) return this.count > 0 ? 0 : -1;
    if (tick < 0) return -1;
    if (this.ticks === undefined) return tick < this.count ? tick : -1;
    let low = 0;
    let high = this.ticks.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.ticks[middle] < tick) low = middle + 1;
      else high = middle;
    }
    return this.ticks[low] === tick ? low : -1;
  }

  tickOf(row: number): number {
    return this.ticks === undefined ? row : this.ticks[row];
  }

  rowFor(at: At): number {
    return this.rowAt(this.axis === undefined ? 0 : this.axis.tick(at));
  }
}

/** One number for each record: trip counts, or which branch was taken. */
export class NumberRows extends Rows {
  readonly numbers: Column;
  readonly count: number;

  constructor(info: Numbers, trace: Trace) {
    super(info, trace);
    this.numbers = trace.packed.array(info.numbers);
    this.count = this.numbers.length;
  }
}

/** The records of a value. */
export class ValueRows extends Rows {
  readonly count: number;
  readonly columns: number;
  readonly elements: number;
  readonly cells: Column;
  readonly stats?: Column;
  readonly sizes?: Column;
  readonly nan: Map<number, number>;
  readonly inf: Map<number, number>;
  private readonly shape?: Column;

  constructor(readonly info: Recorded, trace: Trace) {
    super(info, trace);
    const array = (reference?: Reference) => reference && trace.packed.array(reference);
    this.cells = array(info.cells) ?? new Float32Array(0);
    this.columns = info.columns ?? 0;
    this.elements = info.elements ?? 0;
    this.stats = array(info.stats);
    this.sizes = array(info.sizes);
    this.shape = array(info.shape);
    const ofStats = this.stats === undefined ? 0 : this.stats.length / 3;
    this.count = info.texts?.length ?? (this.columns > 0 ? this.cells.length / this.columns : ofStats);
    const marks = (each?: [Reference, Reference]) => {
      const rows = array(each?.[0]) ?? new Uint32Array(0);
      const counts = array(each?.[1]) ?? new Uint32Array(0);
      return new Map(Array.from(rows, (row, k) => [row, counts[k]]));
    };
    this.nan = marks(info.nan);
    this.inf = marks(info.inf);
  }

  get isText(): boolean {
    return this.info.texts !== undefined;
  }

  cell(row: number, column: number): number {
    return this.cells[column * this.count + row];
  }

  /** How many elements the record of a row has. */
  size(row: number): number {
    return this.sizes === undefined ? this.elements : this.sizes[row];
  }

  shapeText(row: number): string {
    return this.info.shapes[this.shape === undefined ? 0 : this.shape[row]] ?? "";
  }

  changesShape(row: number): boolean {
    return this.shape !== undefined && row > 0 && this.shape[row] !== this.shape[row - 1];
  }

  low(row: number): number {
    return this.stats === undefined ? this.cell(row, 0) : this.stats[row];
  }

  high(row: number): number {
    return this.stats === undefined ? this.cell(row, 0) : this.stats[this.count + row];
  }

  mean(row: number): number {
    return this.stats === undefined ? this.cell(row, 0) : this.stats[2 * this.count + row];
  }

  /** The least and greatest finite element of all records. */
  range(): [number, number] {
    let [low, high] = [Infinity, -Infinity];
    for (let row = 0; row < this.count; row++) {
      const [a, b] = [this.low(row), this.high(row)];
      if (Number.isFinite(a) && a < low) low = a;
      if (Number.isFinite(b) && b > high) high = b;
    }
    return low <= high ? [low, high] : [0, 1];
  }
}

/** One run. */
export class Trace {
  readonly axes: Axis[];
  readonly trips: Map<string, NumberRows>;
  readonly branches: Map<string, NumberRows>;
  private readonly known = new Map<string, ValueRows>();

  constructor(readonly info: TraceInfo, readonly packed: Packed) {
    this.axes = info.axes.map((each) => new Axis(each, packed));
    const numbers = (each: Record<string, Numbers>) =>
      new Map(Object.entries(each).map(([path, rows]) => [path, new NumberRows(rows, this)]));
    this.trips = numbers(info.trips);
    this.branches = numbers(info.branches);
  }

  values(path: string | undefined): ValueRows | undefined {
    if (path === undefined || !Object.hasOwn(this.info.values, path)) return undefined;
    let rows = this.known.get(path);
    if (rows === undefined) this.known.set(path, (rows = new ValueRows(this.info.values[path], this)));
    return rows;
  }

  axis(loops: string[]): Axis | undefined {
    return this.axes.find((each) => each.depth === loops.length && each.info.loops.every((loop, k) => loop === loops[k]));
  }
}
