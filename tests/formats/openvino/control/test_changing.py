"""Lengths of carried values that change: a body is read with those of all iterations, not with those of the first."""

import numpy as np
import pytest
from formats.openvino.control_text import FINAL, GOES_ON, PARTS, STATE, TRUE, WEIGHTS, looped
from formats.openvino.ir_text import constant, graph, layer, loop, parameter, result

from whorl.formats.openvino.files import load_ir
from whorl.formats.openvino.reading.context import IrOptions
from whorl.ir.constants import Constant
from whorl.ops.control.flow import Loop
from whorl.runtime.session import Session

MORE = WEIGHTS + bytes(6) + np.array([1, 0, 0], np.int64).tobytes()
"""Behind 24 bytes: the numbers 1 and 0, 0."""
ONE, AXIS, FIRST = (
    constant(30, 24, 8, "1", "i64"),
    constant(31, 32, 8, "", "i64"),
    constant(32, 32, 8, "1", "i64"),
)
SECOND_ROW = layer(6, "Gather", 3, version="opset8", batch_dims=0)
"""Row 1 of the state."""


def body(next_state: list[str], edges: str, state: str = "2:3") -> tuple[list[str], str]:
    """Gives the state that layer 2 makes, its second row before that, and true."""
    first = [parameter(0, "?,3"), parameter(1, "?,3"), ONE, AXIS, FIRST, SECOND_ROW]
    layers = [*first, *next_state, result(3), result(4), TRUE, result(5)]
    return layers, f"0:0-6:0 30:0-6:1 31:0-6:2 {edges} {state}-3:0 6:3-4:0 20:0-5:0"


SHRINKING = body([layer(2, "Gather", 3, version="opset8", batch_dims=0)], "0:0-2:0 32:0-2:1 31:0-2:2")
"""The first row alone remains."""
GROWING = body([layer(2, "Concat", 2, axis=0)], "0:0-2:0 0:0-2:1", "2:2")
"""The state twice."""
STEADY = body([layer(2, "Add", 2)], "0:0-2:0 0:0-2:1", "2:2")
"""Twice the state, of the same lengths."""
UNUSED = {"external_port_id": 3, "internal_layer_id": 1}
H = np.array([[1, 2, 3], [4, 5, 6]], np.float32)


def module_of(inside, shape="2,3"):
    text = looped((STATE, UNUSED), (FINAL, PARTS, GOES_ON), body=inside, shapes=(shape, "?,3"))
    return load_ir(text, IrOptions(), MORE)


def run(module, **feeds):
    return Session(module, backend="interpreter").execute(None, {k: np.asarray(v) for k, v in feeds.items()})


@pytest.mark.parametrize("shape", ["2,3", "?,3"])
def test_index_outside_a_carried_value_that_became_shorter_gives_zeros(shape):
    x = np.zeros((1, 3), np.float32)
    final, rows = run(module_of(SHRINKING, shape), n=3, go=True, h=H, x=x)
    np.testing.assert_array_equal(rows, [[4, 5, 6], [0, 0, 0], [0, 0, 0]])
    np.testing.assert_array_equal(final, [[1, 2, 3]])


def test_index_inside_a_carried_value_of_one_length_needs_no_zeros():
    (body,) = (node.regions[0] for node in module_of(STEADY).main.nodes if isinstance(node.op, Loop))
    assert [node.op.name for node in body.nodes if not isinstance(node.op, Constant)] == ["Add", "Gather"]


def test_index_is_inside_a_carried_value_once_that_has_grown():
    final, rows = run(module_of(GROWING, "1,3"), n=3, go=True, h=H[:1], x=H)
    np.testing.assert_array_equal(rows, [[0, 0, 0], [1, 2, 3], [1, 2, 3]])
    np.testing.assert_array_equal(final, np.tile(H[:1], (8, 1)))


def nested(depth):
    """Loops inside each other, each of which makes the state that it has longer."""
    text = graph(
        [parameter(0, "1"), layer(1, "Concat", 2, axis=0), result(2), TRUE, result(3)],
        "0:0-1:0 0:0-1:1 1:2-2:0 20:0-3:0",
    )
    maps = (
        '<input external_port_id="2" internal_layer_id="0"/><output external_port_id="3" internal_layer_id="2"/>'
        '<output external_port_id="-1" internal_layer_id="3" purpose="execution_condition"/>'
    )
    for _ in range(depth):
        inner = loop(1, maps, '<edge from-layer="2" to-layer="0"/>', text, 3)
        layers = [parameter(0, "1"), ONE, TRUE, inner, result(2), result(3)]
        text = graph(layers, "30:0-1:0 20:0-1:1 0:0-1:2 1:3-2:0 20:0-3:0")
    return f'<net name="n" version="11">{text}</net>'.encode()


def test_bodies_inside_each_other_are_read_a_few_times_each():
    final, _ = run(load_ir(nested(24), IrOptions(), MORE), parameter0=np.ones(1, np.float32))
    np.testing.assert_array_equal(final, [1, 1])
