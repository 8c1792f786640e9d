"""How nodes ran, and for how long."""

import numpy as np
from api.exploring.test_packing import unpack
from explored_models import MAMBA, random_rows
from onnx_text import model

import whorl
from whorl.api.exploring.costs import Cost, measure_costs
from whorl.api.exploring.document import Shown, seal_document

INPUTS = {name: random_rows(60, 8) for name in ("decay", "driven", "c")} | {"h0": random_rows(8)}


def test_loop_inside_a_program_has_its_iterations_and_times() -> None:
    costs = measure_costs(whorl.load(MAMBA), INPUTS)
    (loop,) = [cost for cost in costs if cost.title == "Loop 'scan'"]
    assert (loop.how, loop.iterations) == ("native", 60)
    assert loop.looped > 0 and loop.seconds >= loop.looped


def test_interpreted_node_has_its_reason() -> None:
    module = whorl.load(model("main (float[3] x) => (seq(float[3]) y) { y = SequenceConstruct(x) }"))
    (cost,) = measure_costs(module, {"x": np.ones(3, np.float32)}, mode="interpreter")
    assert (cost.title, cost.how, cost.nodes, cost.depth) == ("SequenceConstruct 'y'", "interpreted", 1, 0)
    assert cost.reason


def test_model_is_left_as_it_is() -> None:
    module = whorl.load(MAMBA)
    before = [node.title for node in module.nodes()]
    measure_costs(module, INPUTS)
    assert [node.title for node in module.nodes()] == before


def test_document_marks_nodes_that_were_measured_and_that_call_back() -> None:
    costs = [Cost("Loop 'scan'", "native", calls=["Mul 'decayed'"], seconds=1e-3, iterations=60)]
    document, _ = unpack(seal_document(Shown(title="a", module=whorl.load(MAMBA), costs=costs)))
    main, body = document["bodies"]
    assert document["costs"][0]["title"] == "Loop 'scan'"
    assert [node["op"] for node in main["nodes"] if node.get("cost") == 0] == ["Loop"]
    assert [node["op"] for node in body["nodes"] if node.get("called")] == ["Mul"]
