"""Sequences of ONNX in models over time: carried by a loop inside an evaluation, gone when it ends."""

import json

import numpy as np
import pytest
from formats.mdf.onnx_models import parsed

import whorl
from whorl.errors import UnsupportedError

GROWING = """net (float[2] x, int64 n) => (float[2] last, int64 count, float[2] second) {
    empty = SequenceEmpty()
    start = SequenceInsert(empty, x)
    grown = Loop(n, , start) <body = body (int64 i, bool go, seq(float[2]) before) => (bool on, seq(float[2]) after) {
        on = Identity(go)
        end = Constant<value_int = -1>()
        newest = SequenceAt(before, end)
        next = Add(newest, x)
        after = SequenceInsert(before, next)
    }>
    minus = Constant<value_int = -1>()
    last = SequenceAt(grown, minus)
    count = SequenceLength(grown)
    pair = SequenceConstruct(x, last)
    one = Constant<value_int = 1>()
    second = SequenceAt(pair, one)
}"""


@pytest.fixture
def over_time(tmp_path):
    """The model without the types that would make it the ONNX model again."""
    whorl.save(parsed(GROWING), tmp_path / "model.json")
    data = json.loads((tmp_path / "model.json").read_text())
    del data["ONNX Model"]["graphs"]["net"]["metadata"]["onnx_types"]
    (tmp_path / "model.json").write_text(json.dumps(data))
    return whorl.load(tmp_path / "model.json")


RECORD = ["SequenceAt_2.last", "SequenceLength.count", "SequenceAt_3.second"]
X = np.array([1.0, -2.0])


def initial_of(model, **values):
    nodes = model.graph.nodes.values()
    return {f"{node.id}.{id}": values[id] for node in nodes for id in node.input_ports if id in values}


@pytest.mark.parametrize("turns", [0, 3])
def test_loop_that_carries_a_sequence_simulates(turns, over_time):
    run = over_time.simulate(1, record=RECORD, initial=initial_of(over_time, x=X, n=turns))
    for name, expected in zip(RECORD, ((turns + 1) * X, turns + 1, (turns + 1) * X), strict=True):
        np.testing.assert_array_equal(run[name], [expected, expected])


def test_loop_that_carries_a_sequence_is_converted_and_runs_in_onnxruntime(over_time, tmp_path):
    ort = pytest.importorskip("onnxruntime", reason="onnxruntime has no wheel for this platform")
    module = over_time.module(record=RECORD[1:2])
    whorl.save(module, tmp_path / "model.onnx")
    session = ort.InferenceSession(str(tmp_path / "model.onnx"), providers=["CPUExecutionProvider"])
    passed = {f"{name}.input": np.asarray(value, float) for name, value in initial_of(over_time, x=X, n=4).items()}
    feeds = {value.name: passed[value.name] for value in module.main.arguments if value.name in passed}
    (counts,) = session.run(None, {"steps": np.array(1), **feeds})
    np.testing.assert_array_equal(counts, [5, 5])


def test_record_of_a_sequence_over_time_is_refused(over_time):
    with pytest.raises(UnsupportedError) as raised:
        over_time.module(record=["Loop.grown"])
    assert str(raised.value) == (
        "Loop.grown is a sequence, which has no row over time\n  fix: record what is made of it, such as an element"
    )
