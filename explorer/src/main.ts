// The page: a tree, a graph, details, and the iterations of what was recorded.

import { makeBanner } from "./banner";
import { unpack } from "./document";
import { el } from "./dom";
import { GraphView } from "./graph";
import { Inspector } from "./inspector";
import { listenToKeys, showHelp } from "./keys";
import { Model } from "./model";
import { Trace } from "./records";
import { Search } from "./search";
import { State } from "./state";
import { Timeline } from "./timeline";
import { Tree } from "./tree";

async function start(): Promise<void> {
  const packed = await unpack(document.getElementById("document")!.textContent!);
  const model = new Model(packed.content);
  const traces = (packed.content.traces ?? []).map((each) => new Trace(each, packed));
  const state = new State();
  const graph = new GraphView(model, state, traces[0]);
  const timeline = traces.length ? new Timeline(model, state, traces) : undefined;
  const search = new Search(model, state);
  const button = (text: string, hint: string, click: () => void) => el("button", { type: "button", title: hint, "aria-label": hint, click }, text);
  const path = el("nav", { class: "path", "aria-label": "where" });
  const header = el(
    "header",
    {},
    el("h1", {}, model.content.title),
    path,
    search.root,
    button("fit", "whole graph (f)", () => graph.fit()),
    button("◐", "dark or light (t)", () => state.changeTheme()),
    button("?", "keys", () => showHelp()),
  );
  const main = el("main", {}, new Tree(model, state, traces[0]).root, graph.root, new Inspector(model, state, traces[0]).root);
  const app = document.getElementById("app")!;
  const [banner, goToDifference] = model.content.differences ? makeBanner(model, state, traces) : [];
  app.replaceChildren(el("div", {}, header, banner), main);
  if (timeline !== undefined) app.append(timeline.root);
  app.classList.toggle("traced", timeline !== undefined);
  const showPath = () => {
    const steps = model.chain(state.body).map((body) => button(model.title(body), "go there", () => state.open(body)));
    path.replaceChildren(...steps.flatMap((each, k) => (k ? [" › ", each] : [each])));
  };
  state.on(["body"], showPath);
  listenToKeys({ model, state, graph, timeline, search });
  showPath();
  graph.draw();
  timeline?.build();
  // Where there is a single loop, what happened is in there.
  const inner = model.children(0);
  if (inner.length === 1 && traces.length) state.open(inner[0]);
  goToDifference?.();
  document.documentElement.dataset.ready = "true";
}

start().catch((error: unknown) => {
  document.getElementById("app")!.textContent = `This page cannot be shown: ${error}`;
  throw error;
});
