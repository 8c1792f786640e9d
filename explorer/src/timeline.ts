// The iterations of the loops around a body: a row for each value, branch and inner loop, and one value in full.

import { draw, MODES, type Mode } from "./chart";
import { el } from "./dom";
import type { Model } from "./model";
import type { Axis, NumberRows, Trace, ValueRows } from "./records";
import { alwaysGoesOn, visibleNodes } from "./scene";
import type { State } from "./state";
import { middleOf, Shades, Strip, tickAt, type Range } from "./strips";
import { record, shortType } from "./words";

const HEIGHT = 26;

interface Row {
  root: HTMLElement;
  canvas: HTMLCanvasElement;
  reading: HTMLElement;
  draw: (strip: Strip) => void;
  read: () => string;
  isBad: () => boolean;
  value: number;
  isDrawn: boolean;
}

export class Timeline {
  readonly root = el("section", { class: "timeline", "aria-label": "iterations" });
  private readonly where = el("span", { class: "where", role: "status" });
  private readonly slider = el("input", { type: "range", min: 0, step: 1, "aria-label": "iteration", input: () => this.move(Number(this.slider.value) - this.tick) });
  private readonly list = el("div", { class: "rows" });
  private readonly cursor = el("div", { class: "cursor" });
  private readonly picture = el("div", { class: "detail-picture" });
  private readonly heading = el("div", { class: "detail-heading" });
  private readonly modes = new Map<Mode, HTMLButtonElement>();
  private readonly ranges = new Map<Axis, Range>();
  private readonly seen: IntersectionObserver;
  private rows: Row[] = [];
  private axis?: Axis;
  private value = -1;
  private mode?: Mode;

  constructor(
    private readonly model: Model,
    private readonly state: State,
    private readonly traces: Trace[],
  ) {
    const button = (text: string, hint: string, click: () => void) => el("button", { type: "button", title: hint, "aria-label": hint, click }, text);
    const bar = el(
      "div",
      { class: "bar" },
      button("|◀", "first iteration", () => this.move(-Infinity)),
      button("◀", "iteration before (←)", () => this.move(-1)),
      button("▶", "next iteration (→)", () => this.move(1)),
      button("▶|", "last iteration", () => this.move(Infinity)),
      this.slider,
      this.where,
      button("zoom in", "look at fewer iterations around this one", () => this.zoom(0.5)),
      button("zoom out", "look at more iterations", () => this.zoom(2)),
    );
    const tabs = el("div", { class: "tabs", role: "tablist" });
    for (const mode of MODES) {
      const tab = el("button", { type: "button", role: "tab", click: () => this.setMode(mode) }, mode);
      this.modes.set(mode, tab);
      tabs.append(tab);
    }
    const detail = el("div", { class: "detail" }, el("div", { class: "detail-bar" }, this.heading, tabs), this.picture);
    this.list.append(this.cursor);
    this.root.append(bar, el("div", { class: "panes" }, this.list, detail));
    this.seen = new IntersectionObserver((entries) => this.drawSeen(entries), { root: this.list });
    state.on(["body"], () => this.build());
    state.on(["iteration"], () => this.moved());
    state.on(["selection"], () => this.select());
    state.on(["theme"], () => this.redraw());
    new ResizeObserver(() => this.redraw()).observe(this.root);
  }

  private get tick(): number {
    return this.axis === undefined ? 0 : Math.max(0, this.axis.tick(this.state.at));
  }

  private get range(): Range {
    if (this.axis === undefined) return [0, 1];
    return this.ranges.get(this.axis) ?? [0, this.axis.count];
  }

  build(): void {
    const { body } = this.state;
    this.axis = this.traces[0].axis(this.model.loops(body));
    this.seen.disconnect();
    this.rows = [...this.controlRows(), ...this.valueRows()];
    this.list.replaceChildren(this.cursor, ...this.rows.map((row) => row.root));
    if (!this.rows.length) {
      const text = this.model.bodies[body].kind === "main" ? "The main graph runs once: open a loop in the tree to see its iterations." : "Nothing was recorded here: it was not reached.";
      this.list.append(el("p", { class: "note" }, text));
    }
    this.root.classList.toggle("short", this.axis === undefined);
    for (const row of this.rows) this.seen.observe(row.root);
    this.slider.max = String(Math.max(0, (this.axis?.count ?? 1) - 1));
    this.value = this.defaultValue();
    this.mode = undefined;
    this.moved();
    this.select();
  }

  /** The first carried value of a loop, else the first one that has records. */
  private defaultValue(): number {
    const { body } = this.state;
    const carried = this.model.bodies[body].arguments.findIndex((each) => each.role === "carried");
    const values = this.rows.map((row) => row.value).filter((value) => value >= 0);
    return values.includes(carried) ? carried : (values[0] ?? -1);
  }

  /** Rows for the branches and loops that lie in the body. */
  private controlRows(): Row[] {
    const rows: Row[] = [];
    for (const node of this.model.bodies[this.state.body].nodes) {
      if (node.bodies === undefined) continue;
      const inner = this.model.bodies[node.bodies[0]];
      const isLoop = inner.kind === "loop";
      const path = isLoop ? inner.path : inner.path.slice(0, inner.path.lastIndexOf("/"));
      const found = this.traces.flatMap((trace) => (isLoop ? trace.trips : trace.branches).get(path) ?? []);
      if (!found.length || found[0].count === 0) continue;
      const name = path.slice(path.lastIndexOf("/") + 1);
      const read = (own: NumberRows) => {
        const row = own.rowFor(this.state.at);
        if (row < 0) return "–";
        return isLoop ? `${own.numbers[row]} iterations` : own.numbers[row] ? "then" : "else";
      };
      const draw = (strip: Strip) => (isLoop ? strip.bars(found[0], "carried") : strip.branches(found[0]));
      const open = () => this.state.open(node.bodies![0]);
      rows.push(this.row(isLoop ? `⟳ ${name}` : `◇ ${name}`, isLoop ? "trips" : "branch", draw, () => found.map(read).join("  |  "), () => false, -1, open));
    }
    return rows;
  }

  private valueRows(): Row[] {
    const { body } = this.state;
    const here = this.model.bodies[body];
    const shown = new Set(visibleNodes(this.model, body));
    return here.values.flatMap((value, k) => {
      const maker = this.model.maker(body, k);
      if (maker >= 0 ? !shown.has(maker) : here.arguments[k].role === "condition" && alwaysGoesOn(here)) return [];
      const found = this.traces.flatMap((trace) => trace.values(value.path) ?? []);
      if (!found.length || found[0].count === 0) return [];
      const read = () => found.map((own) => record(own, own.rowFor(this.state.at), 6)).join("  |  ");
      const isBad = () => found.some((own) => own.nan.has(own.rowFor(this.state.at)));
      const select = () => this.state.select(maker, { body, value: k });
      return [this.row(value.name, shortType(value.type), (strip) => this.drawValue(strip, found, value.path!), read, isBad, k, select)];
    });
  }

  private drawValue(strip: Strip, found: ValueRows[], path: string): void {
    const [rows, other] = found;
    if (this.axis !== undefined) strip.borders(this.axis);
    if (rows.isText) {
      strip.texts(rows);
      return this.markDifference(strip, rows, path);
    }
    const ranges = found.map((each) => each.range());
    const range: [number, number] = [Math.min(...ranges.map((each) => each[0])), Math.max(...ranges.map((each) => each[1]))];
    if (rows.columns > 1) {
      const shades = new Shades(...range);
      const height = other === undefined ? HEIGHT - 6 : (HEIGHT - 6) / 2;
      found.forEach((each, k) => strip.heat(each, shades, 3 + k * height, height - k));
    } else {
      strip.line(rows, range, "series0");
      if (other !== undefined) strip.line(other, range, "series1", true);
    }
    strip.marks(rows);
    this.markDifference(strip, rows, path);
  }

  private markDifference(strip: Strip, rows: ValueRows, path: string): void {
    const difference = this.model.content.differences?.values[path];
    if (difference === undefined || rows.axis === undefined) return;
    const loops = rows.axis.info.loops;
    strip.difference(rows.axis.tick(new Map(loops.map((loop, k) => [loop, difference.iterations[k]]))));
  }

  private row(name: string, note: string, draw: Row["draw"], read: Row["read"], isBad: Row["isBad"], value: number, choose: () => void): Row {
    const canvas = el("canvas");
    const reading = el("span", { class: "row-reading" });
    const click = (event: MouseEvent) => this.axis && this.state.moveTo(this.axis, tickAt(event.offsetX, canvas.clientWidth, this.range));
    const picture = el("span", { class: "row-picture", click }, canvas);
    const label = el("button", { type: "button", class: "row-name", title: name, click: choose }, el("b", {}, name), " ", el("small", {}, note));
    const root = el("div", { class: "row", "data-value": value }, label, picture, reading);
    return { root, canvas, reading, draw, read, isBad, value, isDrawn: false };
  }

  private drawSeen(entries: IntersectionObserverEntry[]): void {
    const seen = new Set(entries.filter((each) => each.isIntersecting).map((each) => each.target));
    for (const row of this.rows) if (seen.has(row.root)) this.drawRow(row);
  }

  private drawRow(row: Row): void {
    const width = row.canvas.parentElement!.clientWidth;
    if (width === 0) return;
    row.isDrawn = true;
    row.draw(new Strip(row.canvas, width, HEIGHT, this.range));
    this.placeCursor();
  }

  private redraw(): void {
    for (const row of this.rows) if (row.isDrawn) this.drawRow(row);
    this.placeCursor();
    this.drawDetail();
  }

  move(by: number): void {
    if (this.axis === undefined) return;
    const tick = Math.max(0, Math.min(this.axis.count - 1, this.tick + by));
    this.state.moveTo(this.axis, tick);
  }

  private zoom(factor: number): void {
    if (this.axis === undefined) return;
    const [begin, end] = this.range;
    const length = Math.max(4, Math.min(this.axis.count, Math.round((end - begin) * factor)));
    const from = Math.max(0, Math.min(this.axis.count - length, this.tick - Math.floor(length / 2)));
    this.ranges.set(this.axis, [from, Math.min(this.axis.count, from + length)]);
    this.redraw();
  }

  /** Another iteration is looked at. */
  private moved(): void {
    const { axis, tick } = this;
    if (axis !== undefined && (tick < this.range[0] || tick >= this.range[1])) {
      const length = this.range[1] - this.range[0];
      const from = Math.max(0, Math.min(axis.count - length, tick - Math.floor(length / 2)));
      this.ranges.set(axis, [from, from + length]);
      for (const row of this.rows) if (row.isDrawn) this.drawRow(row);
    }
    this.slider.value = String(tick);
    this.where.textContent = axis === undefined ? "" : this.position(axis, tick);
    for (const row of this.rows) {
      row.reading.textContent = row.read();
      row.reading.classList.toggle("bad", row.isBad());
    }
    this.placeCursor();
    this.drawDetail();
  }

  private position(axis: Axis, tick: number): string {
    if (axis.count === 0) return "no iterations";
    const names = axis.info.loops.map((path) => path.slice(path.lastIndexOf("/") + 1));
    const row = axis.row(tick);
    const parts = names.map((name, k) => `${names.length > 1 ? `${name} ` : "iteration "}${row[k]}`);
    const sampled = axis.isSampled ? `, ${axis.count} of them in this page` : "";
    return `${parts.join(" · ")}  (${axis.rank(tick) + 1} of ${axis.info.total}${sampled})`;
  }

  private placeCursor(): void {
    const picture = this.rows[0]?.canvas.parentElement;
    this.cursor.hidden = this.axis === undefined || !picture;
    if (!picture || this.axis === undefined) return;
    const x = middleOf(this.tick, picture.clientWidth, this.range);
    this.cursor.style.left = `${picture.offsetLeft + x}px`;
    this.cursor.style.height = `${this.rows.length * (HEIGHT + 3)}px`;
  }

  private select(): void {
    const { value, body } = this.state;
    if (value !== undefined && value.body === body && this.rows.some((row) => row.value === value.value)) {
      if (this.value !== value.value) this.mode = undefined;
      this.value = value.value;
    }
    for (const row of this.rows) {
      const isChosen = row.value >= 0 && row.value === this.value;
      row.root.classList.toggle("chosen", isChosen);
      if (isChosen && value !== undefined) row.root.scrollIntoView({ block: "nearest" });
    }
    this.drawDetail();
  }

  private setMode(mode: Mode): void {
    this.mode = mode;
    this.drawDetail();
  }

  private drawDetail(): void {
    const info = this.model.bodies[this.state.body].values[this.value];
    const rows = info && this.traces[0].values(info.path);
    if (rows === undefined || this.axis === undefined) {
      this.heading.textContent = "";
      this.picture.replaceChildren();
      return;
    }
    const mode = this.mode ?? (rows.isText ? "elements" : rows.columns > 4 ? "heat map" : "lines");
    for (const [each, tab] of this.modes) tab.setAttribute("aria-selected", String(each === mode));
    this.heading.replaceChildren(el("b", {}, info.name), ` ${shortType(info.type)}`);
    draw(this.picture, mode, {
      rows,
      other: this.traces[1]?.values(info.path),
      axis: this.axis,
      range: this.range,
      tick: this.tick,
      choose: (tick) => this.axis && this.state.moveTo(this.axis, tick),
    });
  }
}
