"""Lists of maps as tables: what ZipMap gives, its errors, and where a list of maps is no result."""

from __future__ import annotations

import numpy as np
import pytest
from onnx_text import model
from runtime.native_sessions import session

import whorl
from whorl.ir.types import Known, TensorType
from whorl.lowering.maps import Table, open_maps

F32 = np.float32
ML = ', "ai.onnx.ml": 3'
NAMED = model(
    """main (float[n, 3] x, float[3] y) => (float[n, 3] e, float[n] z, float[n] w) {
        e = Neg(x)
        z = ai.onnx.ml.ZipMap<classlabels_strings = ["a", "b", "a"]>(e)
        w = ai.onnx.ml.ZipMap<classlabels_int64s = [3, -1, 5]>(y)
    }""",
    domains=ML,
)


def untyped(proto):
    """The model without what its outputs are declared to be, which ONNX text cannot say of maps."""
    for output in proto.graph.output:
        output.ClearField("type")
    return proto


NAMED = untyped(NAMED)
WRONG = untyped(
    model("main (float[n, m] x) => (float[n] z) { z = ai.onnx.ml.ZipMap<classlabels_int64s = [1, 2]>(x) }", domains=ML)
)


@pytest.mark.parametrize("rows", [0, 1, 4])
def test_maps_leave_a_native_program(rows):
    feeds = {"x": np.arange(3 * rows, dtype=F32).reshape(rows, 3), "y": np.arange(3, dtype=F32)}
    made, expected = session(NAMED), session(NAMED, "interpreter").run(None, feeds)
    for _ in range(3):
        results = made.run(None, feeds)
        assert results[1:] == expected[1:]
        assert {type(value) for row in results[1] for value in row.values()} <= {float}
    assert [verdict.how for verdict in made.explain()] == ["native"]
    results[2][0][3] = 7.0
    assert made.run(None, feeds)[2] == expected[2]


def test_labels_that_do_not_fit_are_the_interpreters_error():
    made, texts = session(WRONG), []
    made.run(None, {"x": np.zeros((2, 2), F32)})
    for each in (made, session(WRONG, "interpreter")):
        with pytest.raises(whorl.RunError) as caught:
            each.run(None, {"x": np.zeros((2, 3), F32)})
        texts.append(str(caught.value))
    assert texts[0] == texts[1]


def test_maps_that_another_node_reads_are_interpreted():
    proto = untyped(
        model(
            """main (float[n, 2] x) => (float[n] z, float[n] w) {
                z = ai.onnx.ml.ZipMap<classlabels_int64s = [1, 2]>(x)
                w = Identity(z)
            }""",
            domains=ML,
        )
    )
    feeds = {"x": np.ones((2, 2), F32)}
    assert session(proto).run(None, feeds) == session(proto, "interpreter").run(None, feeds)


def test_table_of_a_vector_is_one_row():
    assert Table(3).infer(Known(TensorType(np.dtype(F32), (3,)))).shape == (1, 3)
    assert Table(3).run(np.arange(3)).tolist() == [[0, 1, 2]]
    with pytest.raises(whorl.RunError, match="are no rows of 3"):
        Table(3).run(np.zeros((2, 2)))


def test_results_that_are_no_maps_stay():
    region = whorl.load(model("main (float[n] x) => (float[n] y) { y = Neg(x) }")).main
    assert open_maps(region) == ()
    assert len(region.nodes) == 1
