// What the graph of a body shows, laid out: nodes, closed groups, what comes in and goes out, and edges between them.

import { Graph, layout } from "@dagrejs/dagre";
import type { Body, NodeInfo } from "./document";
import { around, shownItems, type Group } from "./groups";
import type { Model, Spot } from "./model";
import { census, cost, count, list, number, shortType, times } from "./words";

/** How nodes run that have no native form. */
const SLOW = ["interpreted", "called back"];

export interface Item {
  id: string;
  kind: "node" | "group" | "argument" | "result";
  node: number;
  group?: Group;
  value: number;
  role: string;
  title: string;
  lines: string[];
  classes: string[];
  x: number;
  y: number;
  width: number;
  height: number;
}

export interface Edge {
  from: string;
  to: string;
  values: number[];
  depends: number;
  points: { x: number; y: number }[];
}

export interface Frame {
  group: Group;
  x: number;
  y: number;
  width: number;
  height: number;
}

export interface Scene {
  items: Map<string, Item>;
  edges: Edge[];
  /** From what an iteration gives to what the next one gets. */
  carried: { from: string; to: string; name: string }[];
  frames: Frame[];
  left: number;
  top: number;
  right: number;
  bottom: number;
}

const LINE = 15;
const MOST_TEXT = 30;
const DEPENDS = ["invariant", "batched", "carried"];
const ALWAYS = /^(none|always true|.*then true)$/;
const ruler = document.createElement("canvas").getContext("2d");

export function textWidth(text: string, font: string): number {
  if (ruler === null) return text.length * 7;
  ruler.font = font;
  return ruler.measureText(text).width;
}

export function clip(text: string, most = MOST_TEXT): string {
  return text.length <= most ? text : `${text.slice(0, most - 1)}…`;
}

/** The end of a long name, which says more than its beginning. */
function clipName(name: string, most = 24): string {
  return name.length <= most ? name : `…${name.slice(1 - most)}`;
}

/** Whether a loop's condition always holds, so that it says nothing. */
export function alwaysGoesOn(body: Body): boolean {
  return body.kind === "loop" && ALWAYS.test(body.condition ?? "");
}

/** The nodes worth showing: no constants, and nothing that only says that the loop goes on, as it always does. */
export function visibleNodes(model: Model, index: number): number[] {
  const body = model.bodies[index];
  const hidden = new Set<number>();
  if (alwaysGoesOn(body)) {
    const reach = (values: number[]): Set<number> => {
      const nodes = new Set<number>();
      const waiting = [...values];
      while (waiting.length) {
        const node = model.maker(index, waiting.pop()!);
        if (node < 0 || nodes.has(node)) continue;
        nodes.add(node);
        waiting.push(...body.nodes[node].inputs.filter((each) => each >= 0));
      }
      return nodes;
    };
    const needed = reach(body.results.filter((each) => each.role !== "condition").map((each) => each.value));
    for (const k of reach(body.results.filter((each) => each.role === "condition").map((each) => each.value))) {
      if (!needed.has(k)) hidden.add(k);
    }
  }
  return body.nodes.flatMap((node, k) => (node.op === "Constant" || hidden.has(k) ? [] : [k]));
}

export function buildScene(model: Model, index: number, root: Group, open: Set<string>): Scene {
  const body = model.bodies[index];
  const scene: Scene = { items: new Map(), edges: [], carried: [], frames: [], left: 0, top: 0, right: 0, bottom: 0 };
  const { items, shownBy } = shownItems(root, open);
  for (const each of items) {
    const item = typeof each === "number" ? nodeItem(model, index, each) : groupItem(body, each);
    scene.items.set(item.id, item);
  }
  const makers = new Map<number, string>();
  for (const [k, item] of shownBy) for (const value of body.nodes[k].outputs) makers.set(value, idOf(item));
  addArguments(model, index, scene, makers, [...shownBy.keys()]);
  addEdges(body, scene, makers, shownBy);
  addResults(model, index, scene, makers);
  place(scene, root, open);
  return scene;
}

function idOf(item: number | Group): string {
  return typeof item === "number" ? `n${item}` : `g${item.id}`;
}

function makeItem(parts: Pick<Item, "id" | "kind" | "title"> & Partial<Item>): Item {
  const item: Item = { node: -1, value: -1, role: "", lines: [], classes: [], x: 0, y: 0, width: 0, height: 0, ...parts };
  const title = textWidth(item.title, "600 13px system-ui, sans-serif");
  const widths = item.lines.map((line) => textWidth(line, "11.5px system-ui, sans-serif"));
  item.width = Math.max(64, Math.ceil(Math.max(title, ...widths)) + 22);
  item.height = 24 + LINE * item.lines.length;
  return item;
}

function nodeItem(model: Model, index: number, k: number): Item {
  const body = model.bodies[index];
  const node = body.nodes[k];
  const output = body.values[node.outputs[0]];
  const classes = ["node"];
  if (output?.depends !== undefined) classes.push(DEPENDS[output.depends]);
  if (node.outputs.some((value) => body.values[value].varying)) classes.push("varying");
  if (node.bodies) classes.push("control");
  const ran = node.cost === undefined ? undefined : model.content.costs![node.cost];
  if (ran !== undefined && SLOW.includes(ran.how)) classes.push("slow");
  return makeItem({
    id: `n${k}`,
    kind: "node",
    node: k,
    value: node.outputs[0] ?? -1,
    title: titleOf(model, node),
    lines: [...linesOf(model, body, node), ...(ran ? [clip(cost(ran), 40)] : [])],
    classes,
  });
}

function titleOf(model: Model, node: NodeInfo): string {
  if (!node.bodies) return node.op;
  return node.op === "Loop" ? `⟳ Loop ${clip(model.title(node.bodies[0]), 24)}` : `◇ If ${clip(node.name ?? "", 24)}`;
}

function linesOf(model: Model, body: Body, node: NodeInfo): string[] {
  const names = node.outputs.map((value) => body.values[value].name);
  const type = node.outputs.length === 1 ? ` ${shortType(body.values[node.outputs[0]].type)}` : "";
  const lines = [clip(list(names.map((name) => clipName(name)), 3) + type, 38)];
  if (node.bodies?.length === 1) {
    const inner = model.bodies[node.bodies[0]];
    lines.push(clip(times(inner.trip ?? "")));
  } else if (node.bodies) {
    const counts = node.bodies.map((each) => visibleNodes(model, each).length);
    lines.push(`then ${count(counts[0], "node")}, else ${counts[1]}`);
  }
  if (node.bodies) return lines;
  if (node.attributes) lines.push(clip(node.attributes.join(", ")));
  const constants = node.inputs.flatMap((value) => (value < 0 ? [] : (body.values[value].constant ?? [])));
  if (constants.length) lines.push(clip(constants.map(shortConstant).join(" · ")));
  return lines;
}

/** `int64[1] <2>` as `2`, `float32[3, 4] <...>` as `f32[3×4]`. */
function shortConstant(text: string): string {
  const match = /^(\w+)(\[.*\]) <(.*)>$/.exec(text);
  if (match === null) return text;
  const [, dtype, shape, elements] = match;
  if (elements === "..." || elements.length > 18) return shortType(`${dtype}${shape}`);
  const numbers = elements.split(" ").map((each) => (Number.isNaN(Number(each)) ? each : number(Number(each))));
  return shape === "[]" ? numbers.join(" ") : `[${numbers.join(", ")}]`;
}

function groupItem(body: Body, group: Group): Item {
  const size = group.all.length;
  const lines = [`${size} nodes`, clip(census(group.all.map((k) => body.nodes[k])))];
  return makeItem({ id: `g${group.id}`, kind: "group", group, title: `▸ ${clip(group.label)}`, lines, classes: ["group"] });
}

const ROLES: Record<string, string> = {
  input: "input",
  state: "state from the last run",
  iteration: "number of the iteration",
  condition: "condition",
  carried: "from the iteration before",
  slice: "this iteration's part of",
  captured: "from outside",
};

function addArguments(model: Model, index: number, scene: Scene, makers: Map<number, string>, nodes: number[]): void {
  const body = model.bodies[index];
  const used = new Set(nodes.flatMap((k) => body.nodes[k].inputs));
  const results = body.results.filter((each) => each.role !== "condition");
  for (const each of results) used.add(each.value);
  body.arguments.forEach((argument, k) => {
    const value = body.values[k];
    if (!used.has(k) || value.constant !== undefined) return;
    const outer = argument.operand === undefined || body.around === undefined ? undefined : model.bodies[body.around];
    const whole = argument.role === "slice" ? ` ${outer?.values[argument.operand!]?.name ?? ""}` : "";
    const type = shortType(value.type);
    const lines = [clip(type), clip(`${ROLES[argument.role]}${whole}`, 36)];
    const classes = ["argument", argument.role, ...(value.varying ? ["varying"] : [])];
    const item = makeItem({ id: `a${k}`, kind: "argument", value: k, role: argument.role, title: clipName(value.name), lines, classes });
    scene.items.set(item.id, item);
    makers.set(k, item.id);
  });
}

function addEdges(body: Body, scene: Scene, makers: Map<number, string>, shownBy: Map<number, number | Group>): void {
  const known = new Map<string, Edge>();
  for (const [k, item] of shownBy) {
    for (const value of body.nodes[k].inputs) {
      const from = makers.get(value);
      if (from !== undefined) connect(scene, known, body, from, idOf(item), value);
    }
  }
}

function connect(scene: Scene, known: Map<string, Edge>, body: Body, from: string, to: string, value: number): void {
  if (from === to) return;
  const key = `${from} ${to}`;
  const edge = known.get(key);
  if (edge !== undefined) {
    if (!edge.values.includes(value)) edge.values.push(value);
    return;
  }
  const made = { from, to, values: [value], depends: body.values[value].depends ?? -1, points: [] };
  known.set(key, made);
  scene.edges.push(made);
}

const GOES: Record<string, string> = {
  output: "result",
  condition: "whether to go on",
  carried: "for the next iteration",
  last: "result of the last iteration",
  collected: "one for each iteration",
};

function addResults(model: Model, index: number, scene: Scene, makers: Map<number, string>): void {
  const body = model.bodies[index];
  const states = body.arguments.flatMap((each, k) => (each.role === "carried" ? [k] : []));
  let number = 0;
  body.results.forEach((result, k) => {
    const state = result.role === "carried" ? states[number++] : -1;
    const from = makers.get(result.value);
    if (from === undefined || (result.role === "condition" && alwaysGoesOn(body))) return;
    const name = result.role === "collected" || result.role === "last" || body.kind !== "loop" ? result.to : body.values[state]?.name;
    const title = result.role === "condition" ? "go on?" : `→ ${clipName(name ?? "")}`;
    const lines = [GOES[result.role]];
    const item = makeItem({ id: `r${k}`, kind: "result", value: result.value, role: result.role, title, lines, classes: ["result", result.role] });
    scene.items.set(item.id, item);
    scene.edges.push({ from, to: item.id, values: [result.value], depends: body.values[result.value].depends ?? -1, points: [] });
    if (state >= 0) {
      const back = makers.get(state);
      if (back === `a${state}`) scene.carried.push({ from: item.id, to: back, name: body.values[state].name });
    }
  });
}

function place(scene: Scene, root: Group, open: Set<string>): void {
  const graph = new Graph({ compound: true });
  graph.setGraph({ rankdir: "TB", nodesep: 18, ranksep: 30, marginx: 0, marginy: 0, ranker: scene.items.size > 200 ? "longest-path" : "network-simplex" });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const item of scene.items.values()) graph.setNode(item.id, { width: item.width, height: item.height });
  for (const edge of scene.edges) graph.setEdge(edge.from, edge.to, { weight: 1, minlen: 1 });
  // What an iteration gets stands at the top and what it gives at the bottom, so that carried edges go around.
  const ends = [...scene.items.values()].filter((item) => ["carried", "slice", "collected", "iteration"].includes(item.role));
  if (ends.length) {
    for (const id of ["top", "bottom"]) graph.setNode(id, { width: 1, height: 1 });
    for (const item of ends) {
      if (item.kind === "argument") graph.setEdge("top", item.id, { weight: 6, minlen: 1 });
      else graph.setEdge(item.id, "bottom", { weight: 6, minlen: 1 });
    }
  }
  const frames = openGroups(root, open);
  for (const group of frames) graph.setNode(`f${group.id}`, {});
  for (const group of frames) {
    const inside = [...group.nodes.map((k) => `n${k}`), ...group.groups.map((each) => (open.has(each.id) ? `f${each.id}` : `g${each.id}`))];
    for (const id of inside) if (graph.hasNode(id)) graph.setParent(id, `f${group.id}`);
  }
  layout(graph);
  read(scene, graph, frames);
}

function openGroups(group: Group, open: Set<string>): Group[] {
  return group.groups.flatMap((inner) => (open.has(inner.id) ? [inner, ...openGroups(inner, open)] : []));
}

function read(scene: Scene, graph: Graph, frames: Group[]): void {
  for (const item of scene.items.values()) {
    const { x, y } = graph.node(item.id) as { x: number; y: number };
    [item.x, item.y] = [x, y];
  }
  for (const edge of scene.edges) {
    edge.points = (graph.edge(edge.from, edge.to) as { points: { x: number; y: number }[] }).points;
  }
  for (const group of frames) {
    const box = graph.node(`f${group.id}`) as Frame | undefined;
    if (box?.width) scene.frames.push({ group, x: box.x, y: box.y, width: box.width, height: box.height });
  }
  const items = [...scene.items.values()];
  const points = scene.edges.flatMap((edge) => edge.points.map((point) => point.x));
  scene.left = Math.min(0, ...points, ...items.map((item) => item.x - item.width / 2));
  scene.right = Math.max(0, ...points, ...items.map((item) => item.x + item.width / 2));
  scene.top = Math.min(...items.map((item) => item.y - item.height / 2), Infinity);
  scene.bottom = Math.max(...items.map((item) => item.y + item.height / 2), -Infinity);
  if (!items.length) scene.top = scene.bottom = 0;
}

/** The item that shows a node or, for -1, a value. */
export function itemOf(scene: Scene, root: Group, node: number, spot?: Spot): Item | undefined {
  if (node < 0) return spot && scene.items.get(`a${spot.value}`);
  const direct = scene.items.get(`n${node}`);
  if (direct !== undefined) return direct;
  for (const group of around(root, node)) {
    const item = scene.items.get(`g${group.id}`);
    if (item !== undefined) return item;
  }
  return undefined;
}
