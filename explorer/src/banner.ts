// Two runs side by side: their colours, and where they part.

import { el } from "./dom";
import type { Model } from "./model";
import type { Trace } from "./records";
import type { State } from "./state";

/** The banner, and what goes to the first difference. */
export function makeBanner(model: Model, state: State, traces: Trace[]): [HTMLElement, (() => void) | undefined] {
  let goThere: (() => void) | undefined;
  const legend = traces.map((trace, k) => el("span", { class: "run" }, el("i", { class: `series${k}` }), trace.info.name));
  const banner = el("div", { class: "banner", role: "note" }, ...legend);
  const { first, values, trips } = model.content.differences!;
  const spot = first === null ? undefined : model.find(first);
  if (spot === undefined) {
    banner.append(el("span", {}, "no recorded value differs"));
  } else {
    const { iterations, text } = values[first!];
    const loops = model.loops(spot.body);
    const where = loops.map((loop, k) => `${loop.slice(loop.lastIndexOf("/") + 1)} ${iterations[k]}`).join(" · ");
    goThere = () => {
      loops.forEach((loop, k) => state.at.set(loop, iterations[k]));
      state.open(spot.body, model.maker(spot.body, spot.value), spot);
      state.look();
    };
    const others = Object.keys(values).length - 1;
    banner.append(
      el("b", {}, "first difference: "),
      el("button", { type: "button", class: "link", click: goThere }, `${model.value(spot).name} in ${where || "the main graph"}`),
      el("span", {}, `${text}${others ? `; ${others} more value${others > 1 ? "s" : ""} later` : ""}`),
    );
  }
  if (trips.length) banner.append(el("span", {}, `other numbers of iterations: ${trips.join(", ")}`));
  return [banner, goThere];
}
