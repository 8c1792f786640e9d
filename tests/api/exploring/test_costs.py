"""What nodes took, in the document of a page."""

from __future__ import annotations

import numpy as np
from api.exploring.test_packing import unpack
from explored_models import MAMBA, random_rows
from msgspec import convert
from onnx_text import model
from traced_models import NESTED, X

import whorl
from whorl.api.exploring.costs import Cost, add_costs
from whorl.api.exploring.document import Shown, seal_document
from whorl.api.exploring.graphs import bodies_of
from whorl.api.tracing.profiling import BY_INTERPRETER, CALLED_BACK, NATIVELY, NEVER, UNFELT, profile_module
from whorl.api.tracing.spending import RunProfile, Spent

INPUTS = {name: random_rows(60, 8) for name in ("decay", "driven", "c")} | {"h0": random_rows(8)}


def test_loop_has_its_iterations_and_nodes_inside_have_times() -> None:
    module = whorl.load(MAMBA)
    bodies = bodies_of(module)
    costs = add_costs(module, profile_module(module, INPUTS), bodies)
    (loop,) = [cost for cost in costs if cost.title == "Loop 'scan'"]
    assert (loop.how, loop.times, loop.iterations, loop.depth) == (NATIVELY, 1, 60, 0)
    assert loop.seconds is not None and loop.seconds > 0 and 0 < loop.share <= 1
    inside = [costs[node["cost"]] for node in bodies[1]["nodes"] if node["op"] != "Constant"]
    assert {(cost.depth, cost.times, cost.how in (NATIVELY, UNFELT)) for cost in inside} == {(1, 60, True)}


def test_every_node_of_every_body_has_its_own_cost() -> None:
    module = whorl.load(NESTED)
    bodies = bodies_of(module)
    costs = add_costs(module, profile_module(module, {"n": np.array(4), "x": X}), bodies)
    nodes = [node for body in bodies for node in body["nodes"] if node["op"] != "Constant"]
    titles = [node.title for node in module.nodes() if node.op.name != "Constant"]
    assert sorted(costs[node["cost"]].title for node in nodes) == sorted(titles)
    assert len({node["cost"] for node in nodes}) == len(nodes)
    times = {cost.title: cost.times for cost in costs}
    assert (times["Neg 'w'"], times["Mul 'r'"]) == (1, 5)


def test_interpreted_node_has_its_reason() -> None:
    module = whorl.load(model("main (float[3] x) => (seq(float[3]) y) { y = SequenceConstruct(x) }"))
    profile = profile_module(module, {"x": np.ones(3, np.float32)}, mode="interpreter")
    (cost,) = add_costs(module, profile, bodies_of(module))
    assert (cost.title, cost.how, cost.depth, cost.times) == ("SequenceConstruct 'y'", BY_INTERPRETER, 0, 1)


def test_document_has_no_seconds_of_what_clocks_cannot_tell() -> None:
    inside = [
        Spent("Mul 'decayed'", CALLED_BACK, 60, 5e-4, 0.5, advice="NumPy runs it"),
        Spent("Add 'next'", UNFELT, 60),
        Spent("end of the iteration", NATIVELY, 60, 2e-4, 0.2),
    ]
    loop = Spent("Loop 'scan'", NATIVELY, 1, 1e-3, 1.0, inside=inside)
    profile = RunProfile(1e-3, 1.0, [loop, Spent("Neg 'z'", NEVER, 0)])
    document, _ = unpack(seal_document(Shown(title="a", module=whorl.load(MAMBA), profile=profile)))
    main, body = document["bodies"]
    assert convert(document["costs"], list[Cost]) == [
        Cost("Loop 'scan'", NATIVELY, share=1.0, seconds=1e-3, times=1, iterations=60),
        Cost("Mul 'decayed'", CALLED_BACK, "NumPy runs it", 1, 0.5, 5e-4, 60),
        Cost("Add 'next'", UNFELT, depth=1, times=60),
        Cost("end of the iteration", NATIVELY, depth=1, share=0.2, seconds=2e-4, times=60),
        Cost("Neg 'z'", NEVER),
    ]
    assert [node["op"] for node in main["nodes"] if node.get("cost") == 0] == ["Loop"]
    assert [node["op"] for node in body["nodes"] if node.get("cost") == 1] == ["Mul"]
