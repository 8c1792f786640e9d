// One value in full: lines, a heat map, a histogram, its elements in one iteration.

import uPlot from "uplot";
import { colour, context, el } from "./dom";
import type { Axis, ValueRows } from "./records";
import { Shades, tickAt, type Range } from "./strips";
import { number, record } from "./words";

export const MODES = ["lines", "heat map", "histogram", "elements"] as const;
export type Mode = (typeof MODES)[number];

const SERIES = 8;
const BINS = 40;
/** Elements of a row that fit beside each other. */
const WIDEST = 24;

export interface Shown {
  rows: ValueRows;
  other?: ValueRows;
  axis: Axis;
  range: Range;
  tick: number;
  choose: (tick: number) => void;
}

/** The picture of a value; it fills its parent. */
export function draw(parent: HTMLElement, mode: Mode, shown: Shown): void {
  parent.replaceChildren();
  if (shown.rows.isText || mode === "elements") return elements(parent, shown);
  if (mode === "lines") return lines(parent, shown);
  if (mode === "heat map") return heat(parent, shown);
  histogram(parent, shown);
}

function lines(parent: HTMLElement, shown: Shown): void {
  const { rows, axis, range } = shown;
  const ticks = Array.from({ length: range[1] - range[0] }, (_, k) => range[0] + k);
  const column = (own: ValueRows, read: (row: number) => number) =>
    ticks.map((tick) => {
      const row = own.rowAt(tick);
      const value = row < 0 ? NaN : read(row);
      return Number.isFinite(value) ? value : null;
    });
  const data: (number | null)[][] = [ticks];
  const series: uPlot.Series[] = [{}];
  const bands: uPlot.Band[] = [];
  const add = (values: (number | null)[], name: string, more: Partial<uPlot.Series> = {}) => {
    data.push(values);
    series.push({ stroke: colour(name), width: 1.5, points: { show: ticks.length < 60 }, ...more });
  };
  for (const own of [rows, shown.other]) {
    if (own === undefined) continue;
    const dash = own === rows ? {} : { dash: [5, 3] };
    if (own.elements <= SERIES && own.columns === own.elements && !axis.isSampled) {
      for (let k = 0; k < own.columns; k++) add(column(own, (row) => (k < own.size(row) ? own.cell(row, k) : NaN)), `series${k}`, dash);
      continue;
    }
    const first = series.length;
    add(column(own, (row) => own.high(row)), "faint", { ...dash, points: { show: false } });
    add(column(own, (row) => own.low(row)), "faint", { ...dash, points: { show: false } });
    add(column(own, (row) => own.mean(row)), own === rows ? "series0" : "series1", dash);
    if (own === rows) bands.push({ series: [first, first + 1], fill: colour("band") });
  }
  const style = { stroke: colour("quiet"), grid: { stroke: colour("line"), width: 1 }, ticks: { stroke: colour("line"), width: 1 } };
  const plot = new uPlot(
    {
      width: parent.clientWidth || 400,
      height: Math.max(80, (parent.clientHeight || 180) - 4),
      legend: { show: false },
      scales: { x: { time: false } },
      axes: [
        { ...style, values: (_, marks) => marks.map((tick) => (Number.isInteger(tick) ? label(axis, tick) : "")) },
        { ...style, size: 62, values: (_, marks) => marks.map((each) => number(each)) },
      ],
      cursor: { drag: { x: false, y: false }, y: false },
      series,
      bands,
      hooks: { draw: [(drawn) => drawCursor(drawn, shown.tick)] },
    },
    data as uPlot.AlignedData,
    parent,
  );
  plot.over.addEventListener("click", () => plot.cursor.idx !== null && shown.choose(ticks[plot.cursor.idx ?? 0]));
}

function label(axis: Axis, tick: number): string {
  return tick < 0 || tick >= axis.count ? "" : axis.row(tick).join("·");
}

function drawCursor(plot: uPlot, tick: number): void {
  const x = plot.valToPos(tick, "x", true);
  const { ctx, bbox } = plot;
  ctx.fillStyle = colour("accent");
  ctx.fillRect(x - 1, bbox.top, 2, bbox.height);
}

function heat(parent: HTMLElement, shown: Shown): void {
  const { rows, axis, range } = shown;
  const [width, height] = [parent.clientWidth || 400, Math.max(80, parent.clientHeight || 180)];
  const canvas = el("canvas", { class: "picture", role: "img", "aria-label": "heat map" });
  parent.append(canvas);
  const drawing = context(canvas, width, height);
  const [left, bottom, right] = [44, 20, 84];
  const [w, h] = [width - left - right, height - bottom - 8];
  const [low, high] = rows.range();
  const shades = new Shades(low, high);
  const count = range[1] - range[0];
  const own = [rows, ...(shown.other ? [shown.other] : [])];
  own.forEach((each, n) => {
    const [top, tall] = [8 + (n * h) / own.length, h / own.length - (own.length - 1) * 3];
    for (let px = 0; px < Math.min(w, count); px++) {
      const tick = range[0] + Math.floor((px * count) / Math.min(w, count));
      const row = each.rowAt(tick);
      if (row < 0) continue;
      const size = Math.min(each.columns, each.size(row));
      const [x, wide] = [left + (px * w) / Math.min(w, count), Math.ceil(w / Math.min(w, count))];
      for (let k = 0; k < size; k++) {
        drawing.fillStyle = `rgb(${shades.of(each.cell(row, k)).join()})`;
        drawing.fillRect(x, top + (k * tall) / each.columns, wide, Math.ceil(tall / each.columns));
      }
    }
  });
  drawing.fillStyle = colour("quiet");
  drawing.font = "11px system-ui, sans-serif";
  drawing.textAlign = "right";
  drawing.fillText("0", left - 4, 16);
  drawing.fillText(String(rows.elements - 1), left - 4, h + 6);
  drawing.save();
  drawing.translate(14, 8 + h / 2);
  drawing.rotate(-Math.PI / 2);
  drawing.textAlign = "center";
  drawing.fillText("element", 0, 0);
  drawing.restore();
  drawing.textAlign = "left";
  drawing.fillText(label(axis, range[0]), left, height - 6);
  drawing.textAlign = "right";
  drawing.fillText(label(axis, range[1] - 1), left + w, height - 6);
  scale(drawing, shades, [low, high], left + w + 12, h);
  drawing.strokeStyle = colour("accent");
  drawing.lineWidth = 1.5;
  const x = left + ((shown.tick - range[0]) / count) * w;
  drawing.strokeRect(x, 8, Math.max(2, w / count), h);
  canvas.addEventListener("click", (event) => shown.choose(tickAt(event.offsetX - left, w, range)));
}

/** The colours with the numbers that they stand for. */
function scale(drawing: CanvasRenderingContext2D, shades: Shades, [low, high]: [number, number], x: number, height: number): void {
  for (let k = 0; k < height; k++) {
    drawing.fillStyle = `rgb(${shades.of(high - ((high - low) * k) / height).join()})`;
    drawing.fillRect(x, 8 + k, 10, 1.5);
  }
  drawing.fillStyle = colour("quiet");
  drawing.textAlign = "left";
  drawing.fillText(number(high), x + 14, 16);
  drawing.fillText(number(low), x + 14, height + 8);
}

function histogram(parent: HTMLElement, shown: Shown): void {
  const { rows } = shown;
  const [low, high] = rows.range();
  const here = rows.rowAt(shown.tick);
  const [all, now] = [new Float64Array(BINS), new Float64Array(BINS)];
  for (let row = 0; row < rows.count; row++) {
    for (let k = 0; k < Math.min(rows.columns, rows.size(row)); k++) {
      const value = rows.cell(row, k);
      if (!Number.isFinite(value)) continue;
      const bin = Math.min(BINS - 1, Math.floor(((value - low) / (high - low || 1)) * BINS));
      all[bin]++;
      if (row === here) now[bin]++;
    }
  }
  const middles = Array.from({ length: BINS }, (_, k) => low + ((k + 0.5) / BINS) * (high - low || 1));
  const relative = (counts: Float64Array) => Array.from(counts, (each) => each / Math.max(1, ...counts));
  const paths = uPlot.paths.bars!({ size: [0.95, Infinity] });
  const style = { stroke: colour("quiet"), grid: { stroke: colour("line"), width: 1 } };
  new uPlot(
    {
      width: parent.clientWidth || 400,
      height: Math.max(80, (parent.clientHeight || 180) - 22),
      legend: { show: false },
      scales: { x: { time: false } },
      axes: [{ ...style, values: (_, marks) => marks.map((each) => number(each)) }, { ...style, show: false }],
      cursor: { show: false },
      series: [
        {},
        { fill: colour("band"), stroke: colour("faint"), paths, points: { show: false } },
        { fill: colour("accent-soft"), stroke: colour("accent"), paths, points: { show: false } },
      ],
    },
    [middles, relative(all), relative(now)],
    parent,
  );
  parent.append(el("p", { class: "note" }, "bright: this iteration, pale: all; each as high as its fullest bin"));
}

function elements(parent: HTMLElement, shown: Shown): void {
  const { rows } = shown;
  const row = rows.rowAt(shown.tick);
  const table = el("div", { class: "elements" });
  parent.append(table);
  if (row < 0) {
    table.append("nothing was computed here in this iteration");
    return;
  }
  table.append(el("p", {}, `${rows.info.dtype}${rows.shapeText(row)}: ${record(rows, row)}`));
  const size = Math.min(rows.columns, rows.size(row));
  if (size < rows.size(row)) table.append(el("p", { class: "note" }, `${size} of ${rows.size(row)} elements, evenly chosen`));
  const texts = Array.from({ length: size }, (_, k) => number(rows.cell(row, k), rows.info.dtype));
  const width = Number(/(\d+)\]$/.exec(rows.shapeText(row))?.[1] ?? 1);
  if (size < rows.size(row) || !rows.shapeText(row).includes(",") || width > WIDEST) {
    table.append(el("ol", { start: 0 }, ...texts.map((text) => el("li", {}, text))));
    return;
  }
  const lines = Array.from({ length: width ? size / width : 0 }, (_, k) => texts.slice(k * width, (k + 1) * width));
  table.append(el("table", {}, ...lines.map((line, k) => el("tr", {}, el("th", {}, String(k)), ...line.map((text) => el("td", {}, text))))));
}
