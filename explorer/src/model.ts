// The model as the page walks through it.

import type { Body, Content, NodeInfo, ValueInfo } from "./document";

/** A value, by the index of its body and its own. */
export interface Spot {
  body: number;
  value: number;
}

export interface Hit {
  body: number;
  node: number;
  text: string;
  detail: string;
}

export class Model {
  readonly bodies: Body[];
  private readonly makers: Int32Array[];

  constructor(readonly content: Content) {
    this.bodies = content.bodies;
    this.makers = this.bodies.map((body) => {
      const maker = new Int32Array(body.values.length).fill(-1);
      body.nodes.forEach((node, k) => node.outputs.forEach((value) => (maker[value] = k)));
      return maker;
    });
  }

  /** The node that makes a value, -1 for an argument. */
  maker(body: number, value: number): number {
    return this.makers[body][value];
  }

  value(spot: Spot): ValueInfo {
    return this.bodies[spot.body].values[spot.value];
  }

  /** The bodies from the main graph to one of them. */
  chain(body: number): number[] {
    const chain: number[] = [];
    for (let k: number | undefined = body; k !== undefined; k = this.bodies[k].around) chain.unshift(k);
    return chain;
  }

  /** The paths of the loops around what lies in a body, outermost first. */
  loops(body: number): string[] {
    return this.chain(body)
      .filter((k) => this.bodies[k].kind === "loop")
      .map((k) => this.bodies[k].path);
  }

  children(body: number): number[] {
    return this.bodies[body].nodes.flatMap((node) => node.bodies ?? []);
  }

  /** Where a captured value comes from; other values are what they are. */
  source(spot: Spot): Spot {
    let { body, value } = spot;
    for (;;) {
      const here = this.bodies[body];
      const argument = here.arguments[value];
      if (argument?.role !== "captured" || here.around === undefined || argument.operand === undefined) break;
      if (argument.operand < 0) break;
      [body, value] = [here.around, argument.operand];
    }
    return { body, value };
  }

  /** The value at a path. */
  find(path: string): Spot | undefined {
    for (let body = 0; body < this.bodies.length; body++) {
      const value = this.bodies[body].values.findIndex((each) => each.path === path);
      if (value >= 0) return { body, value };
    }
    return undefined;
  }

  title(body: number): string {
    const here = this.bodies[body];
    if (here.kind === "main") return "main graph";
    return here.kind === "branch" ? here.name.replace("_branch", "") : here.name;
  }

  nodeName(body: number, node: NodeInfo): string {
    return node.name ?? node.outputs.map((value) => this.bodies[body].values[value].name)[0] ?? "";
  }

  /** The nodes and arguments whose op or names contain a text; the main graph's first. */
  search(text: string, most: number): Hit[] {
    const wanted = text.toLowerCase();
    const hits: Hit[] = [];
    this.bodies.forEach((body, index) => {
      for (let k = 0; k < body.nodes.length && hits.length < most; k++) {
        const node = body.nodes[k];
        if (node.op === "Constant") continue;
        const names = node.outputs.map((value) => body.values[value].name);
        const fits = [node.op, node.name ?? "", ...names].some((each) => each.toLowerCase().includes(wanted));
        if (!fits) continue;
        const name = this.nodeName(index, node);
        hits.push({ body: index, node: k, text: `${node.op} ${name}`, detail: body.path || "main graph" });
      }
    });
    return hits;
  }
}
