// Search for nodes and values in all bodies.

import { el } from "./dom";
import type { Hit, Model } from "./model";
import type { State } from "./state";

const MOST = 30;

export class Search {
  private readonly input = el("input", { type: "search", placeholder: "search nodes and values  ( / )", "aria-label": "search", input: () => this.find(), keydown: (event: KeyboardEvent) => this.key(event) });
  private readonly list = el("ul", { class: "hits", role: "listbox", hidden: true });
  readonly root = el("div", { class: "search" }, this.input, this.list);
  private hits: Hit[] = [];
  private chosen = 0;

  constructor(
    private readonly model: Model,
    private readonly state: State,
  ) {
    this.input.addEventListener("blur", () => setTimeout(() => (this.list.hidden = true), 200));
  }

  focus(): void {
    this.input.focus();
    this.input.select();
  }

  private find(): void {
    const text = this.input.value.trim();
    this.hits = text ? this.model.search(text, MOST) : [];
    this.chosen = 0;
    this.draw();
  }

  private draw(): void {
    this.list.hidden = this.input.value.trim() === "";
    const entries = this.hits.map((hit, k) =>
      el("li", { role: "option", "aria-selected": k === this.chosen ? "true" : "false", pointerdown: () => this.go(k) }, el("b", {}, hit.text), " ", el("small", {}, hit.detail)),
    );
    this.list.replaceChildren(...(entries.length ? entries : [el("li", { class: "quiet" }, "nothing is called so")]));
  }

  private key(event: KeyboardEvent): void {
    event.stopPropagation();
    if (event.key === "Escape") {
      this.input.value = "";
      this.list.hidden = true;
      this.input.blur();
    } else if (event.key === "Enter") this.go(this.chosen);
    else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      this.chosen = Math.max(0, Math.min(this.hits.length - 1, this.chosen + (event.key === "ArrowDown" ? 1 : -1)));
      this.draw();
    }
  }

  private go(k: number): void {
    const hit = this.hits[k];
    if (hit === undefined) return;
    const [value] = this.model.bodies[hit.body].nodes[hit.node].outputs;
    this.state.open(hit.body, hit.node, value === undefined ? undefined : { body: hit.body, value });
    this.list.hidden = true;
    this.input.blur();
  }
}
