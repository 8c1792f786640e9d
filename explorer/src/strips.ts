// Small pictures of records along the iterations: lines, heat strips, branches that were taken.

import { colour, context } from "./dom";
import type { Axis, NumberRows, ValueRows } from "./records";

/** The ticks that are shown: from the first to before the second. */
export type Range = [number, number];

type Rgb = [number, number, number];

function rgb(text: string): Rgb {
  const hex = /^#(..)(..)(..)$/.exec(text);
  return hex === null ? [128, 128, 128] : [parseInt(hex[1], 16), parseInt(hex[2], 16), parseInt(hex[3], 16)];
}

/** Colours from the least to the greatest number; where both signs occur, 0 is the background. */
export class Shades {
  private readonly low = rgb(colour("cold"));
  private readonly zero = rgb(colour("panel"));
  private readonly high = rgb(colour("warm"));
  private readonly bad = rgb(colour("bad"));

  constructor(private readonly from: number, private readonly to: number) {}

  of(value: number): Rgb {
    if (!Number.isFinite(value)) return this.bad;
    const { from, to } = this;
    if (from >= 0 || to <= 0) return mix(this.zero, from >= 0 ? this.high : this.low, 0.08 + 0.92 * share(Math.abs(value), from, to));
    // Small numbers beside large ones are told apart by the root.
    const size = Math.sqrt(Math.abs(value) / Math.max(-from, to));
    return mix(this.zero, value < 0 ? this.low : this.high, size);
  }
}

function share(size: number, from: number, to: number): number {
  const [low, high] = [Math.min(Math.abs(from), Math.abs(to)), Math.max(Math.abs(from), Math.abs(to))];
  return high > low ? Math.sqrt((size - low) / (high - low)) : 0.5;
}

function mix(a: Rgb, b: Rgb, t: number): Rgb {
  const k = Math.max(0, Math.min(1, t));
  return [0, 1, 2].map((n) => Math.round(a[n] + (b[n] - a[n]) * k)) as Rgb;
}

export function tickAt(x: number, width: number, [begin, end]: Range): number {
  return Math.min(end - 1, Math.max(begin, Math.floor(begin + (x / width) * (end - begin))));
}

export function middleOf(tick: number, width: number, [begin, end]: Range): number {
  return ((tick + 0.5 - begin) / (end - begin)) * width;
}

/** One picture: a record is a row of `rows`, at a tick of the range. */
export class Strip {
  private readonly drawing: CanvasRenderingContext2D;

  constructor(
    canvas: HTMLCanvasElement,
    private readonly width: number,
    private readonly height: number,
    private readonly range: Range,
  ) {
    this.drawing = context(canvas, width, height);
  }

  private x(tick: number): number {
    return ((tick - this.range[0]) / (this.range[1] - this.range[0])) * this.width;
  }

  /** A line through one number an iteration, or the band between the least and the greatest element. */
  line(rows: ValueRows, [low, high]: [number, number], name: string, isDashed = false): void {
    const { drawing, height, range } = this;
    const pad = 4;
    const y = (value: number) => height - pad - ((value - low) / (high - low || 1)) * (height - 2 * pad);
    drawing.strokeStyle = drawing.fillStyle = colour(name);
    drawing.lineWidth = 1.4;
    drawing.setLineDash(isDashed ? [3, 2] : []);
    drawing.beginPath();
    let isDown = false;
    const dots = range[1] - range[0] <= this.width / 6;
    for (let tick = range[0]; tick < range[1]; tick++) {
      const row = rows.rowAt(tick);
      const value = row < 0 ? NaN : rows.mean(row);
      if (!Number.isFinite(value)) {
        isDown = false;
        continue;
      }
      const [px, py] = [middleOf(tick, this.width, range), y(value)];
      if (isDown) drawing.lineTo(px, py);
      else drawing.moveTo(px, py);
      if (dots) drawing.fillRect(px - 1.5, py - 1.5, 3, 3);
      if (rows.low(row) < rows.high(row)) {
        drawing.moveTo(px, y(rows.low(row)));
        drawing.lineTo(px, y(rows.high(row)));
        drawing.moveTo(px, py);
      }
      isDown = true;
    }
    drawing.stroke();
    drawing.setLineDash([]);
  }

  /** A column of colours for each tick: the elements from top to bottom. */
  heat(rows: ValueRows, shades: Shades, top = 0, height = this.height): void {
    const { drawing, range } = this;
    const shown = Math.max(1, Math.min(Math.round(this.width), range[1] - range[0]));
    const lines = Math.max(1, Math.min(rows.columns, Math.round(height)));
    const image = new ImageData(shown, lines);
    for (let px = 0; px < shown; px++) {
      const tick = range[0] + Math.floor((px * (range[1] - range[0])) / shown);
      const row = rows.rowAt(tick);
      if (row < 0) continue;
      const size = Math.min(rows.columns, rows.size(row));
      for (let line = 0; line < lines; line++) {
        const column = Math.floor((line * rows.columns) / lines);
        if (column >= size) continue;
        image.data.set([...shades.of(rows.cell(row, column)), 255], 4 * (line * shown + px));
      }
    }
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [shown, lines];
    canvas.getContext("2d")!.putImageData(image, 0, 0);
    drawing.imageSmoothingEnabled = false;
    drawing.drawImage(canvas, 0, top, this.width, height);
  }

  /** Texts beneath each other's ticks, where they have room. */
  texts(rows: ValueRows): void {
    const { drawing, range } = this;
    const room = this.width / (range[1] - range[0]);
    if (room < 24) return;
    drawing.fillStyle = colour("ink");
    drawing.font = "11px ui-monospace, monospace";
    drawing.textAlign = "center";
    for (let tick = range[0]; tick < range[1]; tick++) {
      const row = rows.rowAt(tick);
      if (row < 0) continue;
      const text = rows.info.texts![row];
      const most = Math.floor(room / 7);
      drawing.fillText(text.length > most ? `${text.slice(0, most - 1)}…` : text, middleOf(tick, this.width, range), this.height / 2 + 4);
    }
  }

  /** Where something is not a number, infinite, or has another shape than before. */
  marks(rows: ValueRows): void {
    const { drawing } = this;
    const draw = (row: number, name: string, y: number, height: number) => {
      const x = middleOf(rows.tickOf(row), this.width, this.range);
      drawing.fillStyle = colour(name);
      drawing.fillRect(x - 1, y, 2, height);
    };
    for (const row of rows.nan.keys()) draw(row, "bad", 0, 6);
    for (const row of rows.inf.keys()) draw(row, "warm", 0, 6);
    if (rows.sizes === undefined || rows.count > this.width / 3) return;
    for (let row = 1; row < rows.count; row++) if (rows.changesShape(row)) draw(row, "varying", this.height - 4, 4);
  }

  /** Which branch was taken. */
  branches(rows: NumberRows): void {
    const { drawing, height, range } = this;
    for (let row = 0; row < rows.count; row++) {
      const tick = rows.tickOf(row);
      if (tick < range[0] || tick >= range[1]) continue;
      const taken = rows.numbers[row] !== 0;
      drawing.fillStyle = colour(taken ? "then" : "else");
      const [x, width] = [this.x(tick), Math.max(1, this.x(tick + 1) - this.x(tick))];
      drawing.fillRect(x, taken ? 3 : height / 2, width > 4 ? width - 1 : width, height / 2 - 3);
    }
  }

  /** Bars as high as numbers. */
  bars(rows: NumberRows, name: string): void {
    const { drawing, height, range } = this;
    let most = 1;
    for (const each of rows.numbers) most = Math.max(most, each);
    drawing.fillStyle = colour(name);
    for (let row = 0; row < rows.count; row++) {
      const tick = rows.tickOf(row);
      if (tick < range[0] || tick >= range[1]) continue;
      const size = (rows.numbers[row] / most) * (height - 6);
      const width = Math.max(1, this.x(tick + 1) - this.x(tick) - 1);
      drawing.fillRect(this.x(tick), height - 2 - size, width, Math.max(1, size));
    }
  }

  /** Where the loops around begin an iteration. */
  borders(axis: Axis): void {
    const { drawing, range } = this;
    if (axis.depth < 2 || range[1] - range[0] > this.width / 3) return;
    drawing.fillStyle = colour("line");
    for (let tick = Math.max(1, range[0]); tick < range[1]; tick++) {
      const [a, b] = [axis.row(tick - 1), axis.row(tick)];
      if (a.slice(0, -1).some((each, k) => each !== b[k])) drawing.fillRect(this.x(tick) - 0.5, 0, 1, this.height);
    }
  }

  /** A triangle where two runs part. */
  difference(tick: number): void {
    const { drawing } = this;
    const x = middleOf(tick, this.width, this.range);
    drawing.fillStyle = colour("bad");
    drawing.beginPath();
    drawing.moveTo(x - 5, 0);
    drawing.lineTo(x + 5, 0);
    drawing.lineTo(x, 8);
    drawing.fill();
  }
}
