// What is known of the node or value that was chosen.

import type { Cost } from "./document";
import { el } from "./dom";
import type { Model, Spot } from "./model";
import type { Trace } from "./records";
import type { State } from "./state";
import { cost, record } from "./words";

/** Of the run: what takes less is not listed. */
const LISTED = 0.005;

const DEPENDS = [
  "the same in every iteration: can be computed once, before the loop",
  "depends on the iteration alone: can be computed for all iterations at once",
  "depends on what the iteration before gave: has to wait for it",
];

const LEGEND: [string, string][] = [
  ["carried", "waits for the iteration before"],
  ["batched", "needs only the iteration's own part"],
  ["invariant", "the same in every iteration"],
  ["control", "a loop or branch: double-click"],
  ["varying", "its shape may change"],
  ["slow", "did not run natively"],
];

export class Inspector {
  readonly root = el("aside", { class: "inspector", "aria-label": "details" });

  constructor(
    private readonly model: Model,
    private readonly state: State,
    private readonly trace?: Trace,
  ) {
    state.on(["body", "selection", "iteration"], () => this.draw());
    this.draw();
  }

  private draw(): void {
    const { body, node, value } = this.state;
    if (node >= 0) this.root.replaceChildren(...this.ofNode(body, node));
    else if (value !== undefined) this.root.replaceChildren(el("h2", {}, this.model.value(value).name), ...this.ofValue(value));
    else this.root.replaceChildren(...this.ofBody(body));
  }

  private ofBody(body: number): Node[] {
    const here = this.model.bodies[body];
    const facts: Node[] = [el("h2", {}, here.path || this.model.content.title)];
    if (here.kind === "loop") facts.push(fact("trip count", here.trip!), fact("condition", here.condition!));
    here.arguments.forEach((argument, k) => {
      if (argument.role !== "captured") facts.push(this.link({ body, value: k }, argument.role));
    });
    for (const result of here.results) if (result.to) facts.push(this.link({ body, value: result.value }, `${result.role} ${result.to}`));
    if (here.kind === "main" && this.model.content.costs) facts.push(el("h3", {}, "How it ran"), ...this.model.content.costs.filter((each) => (each.share ?? 0) >= LISTED).map(costLine));
    const last = this.model.content.costs ? LEGEND.length : LEGEND.length - 1;
    const shown = LEGEND.slice(this.model.loops(body).length ? 0 : 3, last);
    return [...facts, el("h3", {}, "Colours"), ...shown.map(([name, text]) => el("p", { class: "legend" }, el("i", { class: name }), text))];
  }

  private ofNode(body: number, k: number): Node[] {
    const here = this.model.bodies[body];
    const node = here.nodes[k];
    const parts: Node[] = [el("h2", {}, node.op), el("p", { class: "quiet" }, this.model.nodeName(body, node))];
    for (const inner of node.bodies ?? []) {
      parts.push(el("button", { type: "button", class: "open", click: () => this.state.open(inner) }, `look inside ${this.model.title(inner)} ⏎`));
    }
    for (const text of node.attributes ?? []) {
      const [name, ...rest] = text.split(" = ");
      parts.push(fact(name, rest.join(" = ")));
    }
    const ran = node.cost === undefined ? undefined : this.model.content.costs![node.cost];
    if (ran !== undefined) parts.push(fact("ran", cost(ran)), ...(ran.advice ? [el("p", { class: "quiet" }, ran.advice)] : []));
    const inputs = node.inputs.filter((value) => value >= 0);
    if (inputs.length) parts.push(el("h3", {}, "Reads"), ...inputs.map((value) => this.link({ body, value })));
    parts.push(el("h3", {}, "Gives"));
    for (const value of node.outputs) parts.push(this.link({ body, value }), ...this.facts({ body, value }));
    return parts;
  }

  private ofValue(spot: Spot): Node[] {
    const node = this.model.maker(spot.body, spot.value);
    const made = node < 0 ? [] : [fact("made by", this.model.bodies[spot.body].nodes[node].op)];
    return [fact("type", this.model.value(spot).type), ...made, ...this.facts(spot), ...this.users(spot)];
  }

  private users(spot: Spot): Node[] {
    const here = this.model.bodies[spot.body];
    const users = here.nodes.flatMap((node, k) => (node.inputs.includes(spot.value) ? [k] : []));
    if (!users.length) return [];
    const shown = users.slice(0, 12).map((k) => {
      const node = here.nodes[k];
      const choose = () => this.state.select(k, node.outputs.length ? { body: spot.body, value: node.outputs[0] } : undefined);
      return el("p", {}, el("button", { type: "button", class: "link", click: choose }, `${node.op} ${this.model.nodeName(spot.body, node)}`));
    });
    return [el("h3", {}, "Read by"), ...shown];
  }

  private facts(spot: Spot): Node[] {
    const info = this.model.value(spot);
    const facts: Node[] = [];
    if (info.depends !== undefined && info.constant === undefined) facts.push(el("p", { class: "quiet" }, DEPENDS[info.depends]));
    if (info.varying) facts.push(el("p", { class: "quiet" }, "its shape may change from iteration to iteration"));
    return facts;
  }

  /** A value with its type, and what it is in the iteration that is looked at. */
  private link(spot: Spot, note = ""): HTMLElement {
    const info = this.model.value(spot);
    const source = this.model.source(spot);
    const rows = this.trace?.values(this.model.value(source).path);
    const text = info.constant ?? (rows === undefined ? "" : record(rows, rows.rowFor(this.state.at)));
    const choose = () => this.state.select(this.model.maker(spot.body, spot.value), spot);
    return el(
      "p",
      { class: "value" },
      el("button", { type: "button", class: "link", click: choose }, info.name),
      el("small", {}, ` ${info.type}${note ? ` · ${note}` : ""}`),
      text ? el("output", {}, text) : undefined,
    );
  }
}

function costLine(each: Cost): HTMLElement {
  const share = `${(100 * (each.share ?? 0)).toFixed(1)} %`;
  const line = el("p", { class: "cost" }, el("b", {}, each.title), ` ${share}, ${cost(each)}${each.advice ? `: ${each.advice}` : ""}`);
  line.style.marginLeft = `${12 * (each.depth ?? 0)}px`;
  return line;
}

function fact(name: string, text: string): HTMLElement {
  return el("p", { class: "fact" }, el("span", {}, name), ` ${text}`);
}
