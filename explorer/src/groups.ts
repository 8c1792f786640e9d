// Nodes in groups by the prefixes of their names, or by runs of neighbours where names say nothing.

import type { Body } from "./document";
import type { Model } from "./model";

const MOST = 60;
/** Nodes that are shown at first. */
const AT_FIRST = 80;

export interface Group {
  id: string;
  label: string;
  around?: Group;
  groups: Group[];
  nodes: number[];
  /** All nodes inside, at any depth. */
  all: number[];
}

function words(name: string): string[] {
  const parts = name.includes("/") ? name.split("/") : name.split(/[.]|::/);
  return parts.filter((each) => each !== "");
}

function makeGroup(id: string, label: string, around?: Group): Group {
  return { id, label, around, groups: [], nodes: [], all: [] };
}

/** The groups of a body's visible nodes. Small bodies have one group, the whole. */
export function groupNodes(model: Model, index: number, visible: number[]): Group {
  const body = model.bodies[index];
  const root = makeGroup("", model.title(index));
  const known = new Map<string, Group>([["", root]]);
  for (const k of visible) {
    const prefix = words(model.nodeName(index, body.nodes[k])).slice(0, -1);
    let group = root;
    if (visible.length > MOST) {
      prefix.forEach((word, depth) => {
        const id = prefix.slice(0, depth + 1).join("/");
        let inner = known.get(id);
        if (inner === undefined) {
          inner = makeGroup(id, word, group);
          known.set(id, inner);
          group.groups.push(inner);
        }
        group = inner;
      });
    }
    group.nodes.push(k);
  }
  prune(root);
  split(root, body);
  count(root);
  return root;
}

/** Merge what has a single group inside, and take in groups of one node. */
function prune(group: Group): void {
  group.groups.forEach(prune);
  group.groups = group.groups.filter((inner) => {
    if (inner.groups.length > 0 || inner.nodes.length > 1) return true;
    group.nodes.push(...inner.nodes);
    return false;
  });
  group.nodes.sort((a, b) => a - b);
  if (group.around === undefined || group.groups.length !== 1 || group.nodes.length > 0) return;
  const [only] = group.groups;
  group.label = `${group.label}/${only.label}`;
  group.nodes = only.nodes;
  group.groups = only.groups;
  for (const each of group.groups) each.around = group;
}

/** Cut long rows of nodes into runs. */
function split(group: Group, body: Body): void {
  group.groups.forEach((inner) => split(inner, body));
  if (group.nodes.length <= MOST) return;
  const length = Math.max(MOST / 2, Math.ceil(group.nodes.length / MOST));
  for (let begin = 0; begin < group.nodes.length; begin += length) {
    const part = group.nodes.slice(begin, begin + length);
    const [first, last] = [part[0], part[part.length - 1]].map((k) => body.nodes[k].op);
    const run = makeGroup(`${group.id}#${begin}`, `${first} … ${last}`, group);
    run.nodes = part;
    group.groups.push(run);
  }
  group.nodes = [];
}

function count(group: Group): number[] {
  group.all = [...group.nodes, ...group.groups.flatMap(count)];
  return group.all;
}

/** The groups that are open at first: as many as fit, the smaller ones before the larger ones. */
export function openAtFirst(root: Group): Set<string> {
  const open = new Set([""]);
  let shown = root.nodes.length + root.groups.length;
  const waiting = [...root.groups];
  for (;;) {
    waiting.sort((a, b) => a.nodes.length + a.groups.length - b.nodes.length - b.groups.length);
    const next = waiting.shift();
    if (next === undefined) break;
    shown += next.nodes.length + next.groups.length;
    if (shown > AT_FIRST) break;
    open.add(next.id);
    waiting.push(...next.groups);
  }
  return open;
}

/** For each node the item that shows it: itself, or the outermost closed group around it. */
export function shownItems(root: Group, open: Set<string>): { items: (number | Group)[]; shownBy: Map<number, number | Group> } {
  const items: (number | Group)[] = [];
  const shownBy = new Map<number, number | Group>();
  const visit = (group: Group): void => {
    for (const k of group.nodes) {
      items.push(k);
      shownBy.set(k, k);
    }
    for (const inner of group.groups) {
      if (open.has(inner.id)) visit(inner);
      else {
        items.push(inner);
        for (const k of inner.all) shownBy.set(k, inner);
      }
    }
  };
  visit(root);
  return { items, shownBy };
}

/** The groups around a node, outermost first. */
export function around(root: Group, node: number): Group[] {
  const chain: Group[] = [];
  let group: Group | undefined = root;
  while (group !== undefined) {
    chain.push(group);
    group = group.groups.find((inner) => inner.all.includes(node));
  }
  return chain.slice(1);
}
