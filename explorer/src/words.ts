// Numbers, values and bodies in words.

import type { Body, Cost, NodeInfo } from "./document";
import type { Model } from "./model";
import type { Trace, ValueRows } from "./records";

export function number(value: number, dtype = "float32"): string {
  if (dtype === "bool") return value ? "true" : "false";
  if (Number.isNaN(value)) return "NaN";
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
  if (Number.isInteger(value) && Math.abs(value) < 1e9) return String(value).replace("-", "−");
  const size = Math.abs(value);
  const text = size >= 1e5 || size < 1e-3 ? value.toExponential(3).replace(/\.?0+e/, "e") : String(Number(value.toPrecision(5)));
  return text.replace("-", "−");
}

/** A record in a few characters: its elements where they are few, else from where to where they reach. */
export function record(rows: ValueRows, row: number, most = 4): string {
  if (row < 0) return "–";
  if (rows.isText) return rows.info.texts![row] || '""';
  const size = rows.size(row);
  if (size === 0 && rows.elements > 0) return "empty";
  const shown = Math.min(size, rows.columns);
  if (size === shown && size <= most && size > 0) {
    const texts = Array.from({ length: size }, (_, k) => number(rows.cell(row, k), rows.info.dtype));
    return size === 1 ? texts[0] : `[${texts.join(", ")}]`;
  }
  const count = rows.nan.get(row);
  const nan = count ? ` · ${count} NaN` : "";
  const [low, high] = [rows.low(row), rows.high(row)];
  if (Number.isNaN(low)) return nan ? `all NaN` : "–";
  return low === high ? `all ${number(low, rows.info.dtype)}${nan}` : `${number(low)} … ${number(high)}${nan}`;
}

/** `float32[3, 4]` in fewer characters. */
export function shortType(type: string): string {
  return type.replace("float", "f").replace("uint", "u").replace("int", "i").replace(/, /g, "×").replace("[]", "");
}

export function count(number: number, what: string): string {
  return `${number} ${what}${number === 1 ? "" : "s"}`;
}

export function list(texts: string[], most = 4): string {
  const shown = texts.length > most ? [...texts.slice(0, most - 1), `${texts.length - most + 1} more`] : texts;
  return shown.length < 2 ? shown.join("") : `${shown.slice(0, -1).join(", ")} and ${shown.at(-1)}`;
}

/** How often a loop ran. */
export function trips(path: string, trace?: Trace): string {
  const rows = trace?.trips.get(path);
  if (rows === undefined || rows.count === 0) return rows === undefined ? "" : "not reached";
  let [low, high] = [Infinity, -Infinity];
  for (const each of rows.numbers) {
    low = Math.min(low, each);
    high = Math.max(high, each);
  }
  return low === high ? `× ${low}` : `× ${low} to ${high}`;
}

/** The bound of a loop in words. */
export function times(trip: string): string {
  return trip === "unbounded" ? "runs until its condition fails" : `runs ${trip.replace("value of ", "")} times`;
}

/** What a loop does, in a sentence or two. */
export function describe(model: Model, body: number, trace?: Trace): string {
  const here = model.bodies[body];
  const name = (value: number) => here.values[value].name;
  const of = (role: string) => here.arguments.flatMap((each, k) => (each.role === role ? [name(k)] : []));
  if (here.kind === "main") return describeMain(here);
  if (here.kind === "branch") {
    const condition = model.bodies[here.around!].nodes[here.node!].inputs[0];
    const text = model.bodies[here.around!].values[condition]?.name;
    return `Runs when ${text} is ${here.name.startsWith("then") ? "true" : "false"}.`;
  }
  const ran = trips(here.path, trace).replace("× ", "");
  const often = ran === "" ? times(here.trip!) : ran === "not reached" ? "was not reached" : `runs ${ran} times`;
  const until = (here.condition ?? "").includes(" of the body") ? `, as long as ${here.condition!.split("then ")[1].replace(" of the body", "")} is true` : "";
  const sentences = [`A loop that ${often}${until}.`];
  const verbs: string[] = [];
  const slices = of("slice");
  if (slices.length) verbs.push(`reads its part of ${list(slices.map((each) => each))}`);
  const carried = of("carried");
  if (carried.length) verbs.push(`computes ${list(carried)} anew from what ${carried.length > 1 ? "they were" : "it was"} before`);
  const collected = here.results.filter((each) => each.role === "collected").map((each) => name(each.value));
  if (collected.length) verbs.push(`keeps ${list(collected)} for the result`);
  if (verbs.length) sentences.push(`Each iteration ${list(verbs)}.`);
  return sentences.join(" ");
}

function describeMain(body: Body): string {
  const inputs = body.arguments.flatMap((each, k) => (each.role === "input" ? [body.values[k].name] : []));
  const outputs = body.results.map((each) => each.to);
  const inner = body.nodes.filter((each) => each.bodies);
  const loops = inner.filter((each) => each.op === "Loop").length;
  const branches = inner.length - loops;
  const parts = [loops ? `${loops} loop${loops > 1 ? "s" : ""}` : "", branches ? `${branches} branch${branches > 1 ? "es" : ""}` : ""];
  const has = parts.filter((each) => each).join(" and ");
  return `Computes ${list(outputs)} from ${list(inputs) || "nothing"}${has ? `, with ${has}: open one to look inside` : ""}.`;
}

export function duration(seconds: number): string {
  const [size, unit] = seconds < 1e-6 ? [1e9, "ns"] : seconds < 1e-3 ? [1e6, "µs"] : seconds < 1 ? [1e3, "ms"] : [1, "s"];
  return `${Number((seconds * size).toPrecision(3))} ${unit}`;
}

/** How a node ran and what it took, in a few words. */
export function cost(each: Cost): string {
  const parts = [each.how === "too short" ? "too short to time" : each.how];
  if (each.seconds !== undefined) parts.push(duration(each.seconds));
  if (each.seconds !== undefined && each.iterations) parts.push(`${duration(each.seconds / each.iterations)} an iteration`);
  else if (each.seconds !== undefined && (each.times ?? 0) > 1) parts.push(`${duration(each.seconds / each.times!)} each time`);
  return parts.join(", ");
}

/** What the nodes of a group are, the most frequent ones first. */
export function census(nodes: NodeInfo[]): string {
  const counts = new Map<string, number>();
  for (const each of nodes) if (each.op !== "Constant") counts.set(each.op, (counts.get(each.op) ?? 0) + 1);
  const ordered = [...counts].sort((a, b) => b[1] - a[1]);
  return ordered
    .slice(0, 3)
    .map(([op, count]) => (count > 1 ? `${op} ×${count}` : op))
    .join(", ");
}
