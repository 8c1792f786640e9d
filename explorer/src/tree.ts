// The loops and branches of a model as a tree.

import { el } from "./dom";
import type { Model } from "./model";
import type { Trace } from "./records";
import { visibleNodes } from "./scene";
import type { State } from "./state";
import { count, trips } from "./words";

export class Tree {
  readonly root = el("nav", { class: "tree", "aria-label": "loops and branches" });
  private readonly entries = new Map<number, HTMLButtonElement>();

  constructor(
    private readonly model: Model,
    private readonly state: State,
    private readonly trace?: Trace,
  ) {
    this.root.append(el("h2", {}, "Loops and branches"), el("ul", { role: "tree" }, this.entry(0)));
    state.on(["body"], () => this.mark());
    this.mark();
  }

  private entry(body: number): HTMLLIElement {
    const here = this.model.bodies[body];
    const sign = { main: "▣", loop: "⟳", branch: "↳" }[here.kind];
    const button = el(
      "button",
      { type: "button", class: here.kind, click: () => this.state.open(body), role: "treeitem", title: here.path || "main graph" },
      el("span", { class: "sign" }, sign),
      el("span", { class: "name" }, this.model.title(body)),
      el("small", {}, this.note(body)),
    );
    this.entries.set(body, button);
    const children = this.inside(body);
    return el("li", {}, button, children.length ? el("ul", { role: "group" }, ...children) : undefined);
  }

  /** What lies in a body; the branches of an If under its name. */
  private inside(body: number): HTMLLIElement[] {
    return this.model.bodies[body].nodes.flatMap((node) => {
      if (node.bodies === undefined) return [];
      if (node.op === "Loop") return [this.entry(node.bodies[0])];
      const path = this.model.bodies[node.bodies[0]].path;
      const name = path.slice(0, path.lastIndexOf("/"));
      const title = el("span", { class: "if" }, el("span", { class: "sign" }, "◇"), `If ${name.slice(name.lastIndexOf("/") + 1)}`, el("small", {}, this.taken(name)));
      return [el("li", {}, title, el("ul", { role: "group" }, ...node.bodies.map((each) => this.entry(each))))];
    });
  }

  private note(body: number): string {
    const here = this.model.bodies[body];
    if (here.kind !== "loop") return count(visibleNodes(this.model, body).length, "node");
    return trips(here.path, this.trace) || `× ${here.trip === "unbounded" ? "?" : here.trip!.replace("value of ", "")}`;
  }

  private taken(path: string): string {
    const rows = this.trace?.branches.get(path);
    if (rows === undefined) return "";
    const taken = Array.from(rows.numbers).filter((each) => each !== 0).length;
    return rows.count ? `then ${taken} of ${rows.count}` : "not reached";
  }

  private mark(): void {
    for (const [body, button] of this.entries) {
      if (body === this.state.body) button.setAttribute("aria-current", "true");
      else button.removeAttribute("aria-current");
    }
  }
}
