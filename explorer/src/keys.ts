// What keys do.

import { el } from "./dom";
import type { GraphView } from "./graph";
import type { Model } from "./model";
import type { Search } from "./search";
import type { State } from "./state";
import type { Timeline } from "./timeline";

interface Parts {
  model: Model;
  state: State;
  graph: GraphView;
  timeline?: Timeline;
  search: Search;
}

const KEYS: [string, string][] = [
  ["/", "search"],
  ["← →", "iteration before, next (with shift: ten)"],
  ["Home End", "first, last iteration"],
  ["j k", "next node, node before"],
  ["Enter", "look inside the loop or branch"],
  ["Backspace", "go out to what is around"],
  ["Esc", "choose nothing"],
  ["+ − f", "zoom in, zoom out, whole graph"],
  ["t", "dark or light"],
  ["?", "this list"],
];

export function listenToKeys(parts: Parts): void {
  const { state, graph, timeline, search } = parts;
  const actions: Record<string, (event: KeyboardEvent) => void> = {
    "/": () => search.focus(),
    ArrowLeft: (event) => timeline?.move(event.shiftKey ? -10 : -1),
    ArrowRight: (event) => timeline?.move(event.shiftKey ? 10 : 1),
    Home: () => timeline?.move(-Infinity),
    End: () => timeline?.move(Infinity),
    j: () => step(parts, 1),
    k: () => step(parts, -1),
    Enter: () => enter(parts),
    Backspace: () => leave(parts),
    Escape: () => state.select(-1),
    "+": () => graph.zoom(1.25),
    "=": () => graph.zoom(1.25),
    "-": () => graph.zoom(0.8),
    f: () => graph.fit(),
    t: () => state.changeTheme(),
    "?": () => showHelp(),
  };
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const target = event.target as HTMLElement;
    if (target.tagName === "INPUT" || (event.key === "Enter" && target.tagName === "BUTTON")) return;
    const action = actions[event.key];
    if (action === undefined) return;
    event.preventDefault();
    action(event);
  });
}

function step({ model, state }: Parts, by: number): void {
  const nodes = model.bodies[state.body].nodes;
  let next = state.node < 0 ? (by > 0 ? 0 : nodes.length - 1) : state.node + by;
  while (nodes[next]?.op === "Constant") next += by;
  const node = nodes[next];
  if (node !== undefined) state.select(next, node.outputs.length ? { body: state.body, value: node.outputs[0] } : undefined);
}

function enter({ model, state }: Parts): void {
  const bodies = state.node < 0 ? undefined : model.bodies[state.body].nodes[state.node].bodies;
  if (bodies !== undefined) state.open(bodies[0]);
}

function leave({ model, state }: Parts): void {
  const { around, node } = model.bodies[state.body];
  if (around !== undefined) state.open(around, node);
}

export function showHelp(): void {
  const dialog = el("dialog", { class: "help", close: () => dialog.remove() });
  const rows = KEYS.map(([keys, text]) => el("tr", {}, el("td", {}, el("kbd", {}, keys)), el("td", {}, text)));
  const close = el("button", { type: "button", click: () => dialog.close() }, "close");
  dialog.append(el("h2", {}, "Keys"), el("table", {}, ...rows), el("p", {}, "Click a row of the time line to look at that iteration. Drag and wheel move the graph."), close);
  document.body.append(dialog);
  dialog.showModal();
}
