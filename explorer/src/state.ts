// What the reader looks at: a body, something in it, and an iteration of each loop.

import type { Spot } from "./model";
import type { At, Axis } from "./records";

export type Aspect = "body" | "selection" | "iteration" | "theme";

export class State {
  body = 0;
  node = -1;
  value?: Spot;
  readonly at: At = new Map();
  private readonly listeners: [Aspect[], () => void][] = [];

  on(aspects: Aspect[], listener: () => void): void {
    this.listeners.push([aspects, listener]);
  }

  private tell(...changed: Aspect[]): void {
    for (const [aspects, listener] of this.listeners) {
      if (aspects.some((each) => changed.includes(each))) listener();
    }
  }

  open(body: number, node = -1, value?: Spot): void {
    const isOther = body !== this.body;
    this.body = body;
    this.node = node;
    this.value = value;
    if (isOther) this.tell("body", "selection");
    else this.tell("selection");
  }

  select(node: number, value?: Spot): void {
    this.node = node;
    this.value = value;
    this.tell("selection");
  }

  /** Tell that `at` has changed. */
  look(): void {
    this.tell("iteration");
  }

  moveTo(axis: Axis, tick: number): void {
    const row = axis.row(Math.max(0, Math.min(axis.count - 1, tick)));
    axis.info.loops.forEach((loop, k) => this.at.set(loop, row[k]));
    this.tell("iteration");
  }

  changeTheme(): void {
    const root = document.documentElement;
    const isDark = root.dataset.theme
      ? root.dataset.theme === "dark"
      : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = isDark ? "light" : "dark";
    this.tell("theme");
  }
}
