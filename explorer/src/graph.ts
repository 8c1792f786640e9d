// The graph of a body on screen: zoom, pan, what is highlighted, values at the iteration that is looked at.

import { el, svg } from "./dom";
import { around, groupNodes, openAtFirst, type Group } from "./groups";
import type { Model } from "./model";
import type { Trace } from "./records";
import { buildScene, clip, itemOf, visibleNodes, type Edge, type Item, type Scene } from "./scene";
import type { State } from "./state";
import { describe, record, trips } from "./words";

/** How far apart carried edges run. */
const LANE = 20;
/** Below this scale texts cannot be read. */
const READABLE = 0.5;

interface View {
  x: number;
  y: number;
  scale: number;
}

export class GraphView {
  readonly root = el("section", { class: "graph", "aria-label": "graph" });
  private readonly about = el("p", { class: "about" });
  private readonly canvas = svg("svg", { class: "canvas", tabindex: 0, role: "img", "aria-label": "graph of the body" });
  private readonly port = svg("g");
  private readonly values = new Map<string, SVGTextElement>();
  private readonly parts = new Map<string, SVGGElement>();
  private readonly lines = new Map<Edge, SVGPathElement>();
  private readonly loops: { from: string; to: string; parts: SVGElement[] }[] = [];
  private readonly views = new Map<number, View>();
  private readonly opened = new Map<number, Set<string>>();
  private readonly grouped = new Map<number, Group>();
  private view: View = { x: 0, y: 0, scale: 1 };
  private scene!: Scene;
  private shown = -1;

  constructor(
    private readonly model: Model,
    private readonly state: State,
    private readonly trace?: Trace,
  ) {
    const marker = (id: string) =>
      svg("marker", { id, viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, orient: "auto" }, svg("path", { d: "M0 0 L8 4 L0 8 z" }));
    this.canvas.append(svg("defs", {}, marker("arrow"), marker("back")), this.port);
    this.root.append(this.about, this.canvas);
    this.listen();
    state.on(["body"], () => this.draw());
    state.on(["selection"], () => this.select());
    state.on(["iteration"], () => this.fillValues());
  }

  private group(body: number): Group {
    let group = this.grouped.get(body);
    if (group === undefined) {
      group = groupNodes(this.model, body, visibleNodes(this.model, body));
      this.grouped.set(body, group);
      this.opened.set(body, openAtFirst(group));
    }
    return group;
  }

  draw(): void {
    const { body } = this.state;
    if (this.shown >= 0 && this.shown !== body) this.views.set(this.shown, this.view);
    const root = this.group(body);
    this.scene = buildScene(this.model, body, root, this.opened.get(body)!);
    this.about.textContent = describe(this.model, body, this.trace);
    this.port.replaceChildren();
    for (const each of [this.values, this.parts, this.lines]) each.clear();
    this.loops.length = 0;
    for (const frame of this.scene.frames) this.port.append(this.drawFrame(frame.group, frame.x, frame.y, frame.width, frame.height));
    for (const edge of this.scene.edges) this.port.append(this.drawEdge(edge));
    this.scene.carried.forEach((each, k) => this.drawCarried(each.from, each.to, each.name, k));
    for (const item of this.scene.items.values()) this.port.append(this.drawItem(item));
    const isNew = this.shown !== body;
    this.shown = body;
    const known = isNew ? this.views.get(body) : this.view;
    if (known === undefined) this.begin();
    else this.show(known);
    this.fillValues();
    this.select(false);
  }

  private drawFrame(group: Group, x: number, y: number, width: number, height: number): SVGGElement {
    const [left, top] = [x - width / 2, y - height / 2 - 14];
    const close = () => this.toggle(group);
    return svg(
      "g",
      { class: "frame" },
      svg("rect", { x: left, y: top, width, height: height + 14, rx: 8 }),
      svg("text", { x: left + 8, y: top + 14, click: close }, `▾ ${clip(group.label)}`, svg("title", {}, "close this group")),
    );
  }

  private drawEdge(edge: Edge): SVGPathElement {
    const names = edge.values.map((value) => this.model.bodies[this.state.body].values[value].name).join(", ");
    const line = svg("path", { class: `edge depends${edge.depends}`, d: curve(edge.points), "marker-end": "url(#arrow)" }, svg("title", {}, names));
    this.lines.set(edge, line);
    return line;
  }

  /** A carried value goes around the body, from the end of an iteration to the beginning of the next one. */
  private drawCarried(from: string, to: string, name: string, k: number): void {
    const [a, b] = [this.scene.items.get(from)!, this.scene.items.get(to)!];
    const lane = this.scene.right + 26 + LANE * k;
    const [below, above] = [this.scene.bottom + 16 + 8 * k, this.scene.top - 16 - 8 * k];
    const [start, end] = [a.y + a.height / 2, b.y - b.height / 2];
    const path = `M${a.x} ${start} L${a.x} ${below - 8} Q${a.x} ${below} ${a.x + 8} ${below} L${lane - 8} ${below} Q${lane} ${below} ${lane} ${below - 8} L${lane} ${above + 8} Q${lane} ${above} ${lane - 8} ${above} L${b.x + 8} ${above} Q${b.x} ${above} ${b.x} ${above + 8} L${b.x} ${end}`;
    const line = svg("path", { class: "back", d: path, "marker-end": "url(#back)" }, svg("title", {}, `${name} of the next iteration`));
    const y = (above + below) / 2;
    const label = svg("text", { class: "back-label", x: lane + 5, y, transform: `rotate(90 ${lane + 5} ${y})` }, clip(`${name}: next iteration`));
    this.port.append(line, label);
    this.loops.push({ from, to, parts: [line, label] });
  }

  private drawItem(item: Item): SVGGElement {
    const [left, top] = [item.x - item.width / 2, item.y - item.height / 2];
    const open = () => this.enter(item);
    const choose = (event: MouseEvent) => (event.detail > 1 ? open() : this.choose(item));
    const part = svg("g", { class: `item ${item.classes.join(" ")}`, "data-id": item.id, tabindex: -1, click: choose });
    const round = item.kind === "argument" || item.kind === "result" ? Math.min(16, item.height / 2) : 6;
    part.append(svg("rect", { x: left, y: top, width: item.width, height: item.height, rx: round }));
    part.append(svg("text", { class: "title", x: item.x, y: top + 16 }, item.title));
    item.lines.forEach((line, k) => part.append(svg("text", { x: item.x, y: top + 31 + 15 * k }, line)));
    const value = svg("text", { class: "reading", x: item.x, y: top + item.height + 12 });
    if (item.kind === "node" || item.kind === "argument") this.values.set(item.id, value);
    part.append(value, svg("title", {}, this.hint(item)));
    this.parts.set(item.id, part);
    return part;
  }

  private hint(item: Item): string {
    if (item.kind === "group") return "click to open this group";
    if (item.node >= 0 && this.model.bodies[this.state.body].nodes[item.node].bodies) return "double-click to look inside";
    return item.value < 0 ? "" : this.model.bodies[this.state.body].values[item.value].type;
  }

  private choose(item: Item): void {
    const { body } = this.state;
    if (item.group !== undefined) this.toggle(item.group);
    else this.state.select(item.node, item.value < 0 ? undefined : { body, value: item.value });
  }

  /** Open what is inside of a loop or a branch. */
  private enter(item: Item): void {
    const bodies = item.node < 0 ? undefined : this.model.bodies[this.state.body].nodes[item.node].bodies;
    if (bodies !== undefined) this.state.open(bodies[0]);
  }

  private toggle(group: Group): void {
    const open = this.opened.get(this.state.body)!;
    const visit = (each: Group): void => {
      open.delete(each.id);
      each.groups.forEach(visit);
    };
    const isOpen = open.has(group.id);
    if (isOpen) visit(group);
    else open.add(group.id);
    this.draw();
    const item = this.scene.items.get(isOpen ? `g${group.id}` : `n${group.all[0]}`);
    if (item !== undefined) this.center(item);
  }

  /** Show a node, whatever groups it lies in. */
  reveal(node: number): void {
    const { body } = this.state;
    const open = this.opened.get(body)!;
    const closed = around(this.group(body), node).filter((each) => !open.has(each.id));
    for (const each of closed) open.add(each.id);
    if (closed.length) this.draw();
    const item = this.scene.items.get(`n${node}`);
    if (item !== undefined) this.center(item);
  }

  private fillValues(): void {
    if (this.trace === undefined) return;
    const { body } = this.state;
    for (const [id, text] of this.values) {
      const item = this.scene.items.get(id)!;
      const spot = this.model.source({ body, value: item.value });
      const rows = this.trace.values(this.model.value(spot).path);
      const row = rows === undefined ? -1 : rows.rowFor(this.state.at);
      text.textContent = rows === undefined ? this.ran(item) : clip(record(rows, row), 26);
      text.classList.toggle("bad", rows !== undefined && (rows.nan.has(row) || rows.inf.has(row)));
    }
  }

  private ran(item: Item): string {
    const inner = item.node < 0 ? undefined : this.model.bodies[this.state.body].nodes[item.node].bodies?.[0];
    return inner === undefined ? "" : trips(this.model.bodies[inner].path, this.trace);
  }

  /** Highlight what was chosen, all that it depends on and all that depends on it. */
  private select(reveals = true): void {
    const { node, value, body } = this.state;
    if (body !== this.shown) return;
    if (reveals && node >= 0 && !this.scene.items.has(`n${node}`)) this.reveal(node);
    const own = value?.body === body ? value : undefined;
    const item = node < 0 && own === undefined ? undefined : itemOf(this.scene, this.group(body), node, own);
    const before = item && reach(this.scene, item.id, (edge) => [edge.to, edge.from]);
    const after = item && reach(this.scene, item.id, (edge) => [edge.from, edge.to]);
    for (const [id, part] of this.parts) {
      part.classList.toggle("selected", id === item?.id);
      part.classList.toggle("dim", item !== undefined && !before!.has(id) && !after!.has(id));
    }
    for (const [edge, line] of this.lines) {
      const isOn = item !== undefined && ((before!.has(edge.to) && before!.has(edge.from)) || (after!.has(edge.to) && after!.has(edge.from)));
      line.classList.toggle("on", isOn);
      line.classList.toggle("dim", item !== undefined && !isOn);
    }
    for (const { from, to, parts } of this.loops) {
      const isOn = item === undefined || after!.has(from) || before!.has(to);
      for (const each of parts) each.classList.toggle("dim", !isOn);
    }
  }

  private listen(): void {
    let from: { x: number; y: number } | undefined;
    this.canvas.addEventListener("pointerdown", (event) => {
      from = { x: event.clientX, y: event.clientY };
    });
    this.canvas.addEventListener("pointermove", (event) => {
      if (from === undefined || event.buttons !== 1) return;
      this.show({ ...this.view, x: this.view.x + event.clientX - from.x, y: this.view.y + event.clientY - from.y });
      from = { x: event.clientX, y: event.clientY };
    });
    this.canvas.addEventListener("click", (event) => {
      if (event.target === this.canvas) this.state.select(-1);
    });
    this.canvas.addEventListener(
      "wheel",
      (event) => {
        event.preventDefault();
        const box = this.canvas.getBoundingClientRect();
        this.zoom(Math.exp(-event.deltaY / 400), event.clientX - box.left, event.clientY - box.top);
      },
      { passive: false },
    );
    new ResizeObserver(() => this.shown >= 0 && !this.views.has(this.shown) && this.begin()).observe(this.canvas);
  }

  zoom(factor: number, x = this.canvas.clientWidth / 2, y = this.canvas.clientHeight / 2): void {
    const scale = Math.min(3, Math.max(0.04, this.view.scale * factor));
    const ratio = scale / this.view.scale;
    this.show({ scale, x: x - (x - this.view.x) * ratio, y: y - (y - this.view.y) * ratio });
    this.views.set(this.shown, this.view);
  }

  /** The whole body, no larger than it is easy to read. */
  fit(): void {
    const { left, top, right, bottom, carried } = this.scene;
    const lanes = carried.length ? 52 + LANE * carried.length : 0;
    const [width, height] = [right - left + lanes + 40, bottom - top + 76 + 16 * carried.length];
    const [w, h] = [this.canvas.clientWidth || 800, this.canvas.clientHeight || 500];
    const scale = Math.max(0.04, Math.min(1.15, w / width, h / height));
    const x = (w - (width - 40) * scale) / 2 - left * scale;
    this.show({ scale, x, y: (h - (bottom - top) * scale) / 2 - top * scale });
  }

  /** The whole body if that can be read, else the part around its first loop, or around its beginning. */
  private begin(): void {
    this.fit();
    if (this.view.scale >= READABLE) return;
    const items = [...this.scene.items.values()].sort((a, b) => a.y - b.y);
    const inner = items.find((item) => item.classes.includes("control"));
    const scale = 0.75;
    this.view = { ...this.view, scale };
    if (inner !== undefined) this.center(inner);
    else this.show({ scale, x: this.canvas.clientWidth / 2 - items[0].x * scale, y: 40 - this.scene.top * scale });
  }

  private center(item: Item): void {
    const scale = Math.max(this.view.scale, 0.7);
    const [w, h] = [this.canvas.clientWidth, this.canvas.clientHeight];
    this.show({ scale, x: w / 2 - item.x * scale, y: h / 2 - item.y * scale });
    this.views.set(this.shown, this.view);
  }

  private show(view: View): void {
    this.view = view;
    this.port.setAttribute("transform", `translate(${view.x} ${view.y}) scale(${view.scale})`);
  }
}

/** All items that can be reached from one of them. */
function reach(scene: Scene, start: string, step: (edge: Edge) => [string, string]): Set<string> {
  const next = new Map<string, string[]>();
  for (const edge of scene.edges) {
    const [from, to] = step(edge);
    const known = next.get(from);
    if (known === undefined) next.set(from, [to]);
    else known.push(to);
  }
  const reached = new Set([start]);
  const waiting = [start];
  while (waiting.length) {
    for (const each of next.get(waiting.pop()!) ?? []) {
      if (reached.has(each)) continue;
      reached.add(each);
      waiting.push(each);
    }
  }
  return reached;
}

/** A smooth line through points. */
function curve(points: { x: number; y: number }[]): string {
  if (points.length < 3) return points.map((p, k) => `${k ? "L" : "M"}${p.x} ${p.y}`).join(" ");
  let path = `M${points[0].x} ${points[0].y}`;
  for (let k = 1; k < points.length - 2; k++) {
    const [p, q] = [points[k], points[k + 1]];
    path += ` Q${p.x} ${p.y} ${(p.x + q.x) / 2} ${(p.y + q.y) / 2}`;
  }
  const [p, q] = points.slice(-2);
  return `${path} Q${p.x} ${p.y} ${q.x} ${q.y}`;
}
