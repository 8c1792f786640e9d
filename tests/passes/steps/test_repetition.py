"""Steps as loops: shapes that stay, first values that are computed, and names that are free."""

import numpy as np
import pytest
from passes.bits import interpreted
from passes.programs import read

from whorl.errors import StepError
from whorl.ir import dims
from whorl.ir.graph import Region, State
from whorl.ir.types import SequenceType, TensorType
from whorl.ir.verify import verify
from whorl.ops.control.flow import Loop
from whorl.passes.steps.repetition import Repetition, free_name, repeat_step, require_same_kind, with_axis

TEXT = """main(%x: float32[2], %h: float32[2]) {
  %y: float32[2] = Add(%x, %h)
  return y = %y
}"""
ONCE = Repetition({"h": "y"}, {"x": 0}, {})
FLOATS = TensorType(np.dtype(np.float32), (2, 3))


def only_loop(module):
    (node,) = [node for node in module.main.nodes if isinstance(node.op, Loop)]
    return node


def test_step_is_the_body_of_one_loop():
    step = read(TEXT)
    module = repeat_step(step, ONCE)
    verify(module)
    verify(step)
    assert [node.op.name for node in module.main.nodes] == ["Loop"]
    (total,) = interpreted(module, {"x": np.eye(2, dtype=np.float32), "h": np.ones(2, np.float32)}) or ()
    np.testing.assert_array_equal(total, np.array([2, 2], np.float32))


@pytest.mark.parametrize(
    ("before", "after", "keeps"),
    [("[n]", "[n]", True), ("[2]", "[n]", True), ("[n]", "[m]", False), ("[n]", "[n+1]", False), ("[*]", "[*]", False)],
)
def test_loop_keeps_shapes_where_the_step_has_to(before, after, keeps):
    text = f"main(%h: float32{before}, %g: float32{after}) {{ return y = %g }}"
    assert only_loop(repeat_step(read(text), Repetition({"h": "y"}, {}, {}))).op.keep_shapes == keeps


@pytest.mark.parametrize("scan", [{}, {"x": 0}])
def test_first_value_that_a_state_computes_comes_before_the_loop(scan):
    module = read(TEXT)
    initial = Region("initial h")
    initial.results = [initial.add_argument("x", module.main.arguments[0].type)]
    module.states.append(State("h", "h", "y", initial))
    loop = repeat_step(module, Repetition({"h": "y"}, scan, {}))
    assert [value.name for value in loop.main.arguments] == ["x"] + ["steps"] * (not scan)
    x = np.array([[1, 2], [3, 4]], np.float32)
    feeds = {"x": x} if scan else {"x": x[0], "steps": np.array(2)}
    (total,) = interpreted(loop, feeds) or ()
    np.testing.assert_array_equal(total, np.array([5, 8] if scan else [3, 6], np.float32))
    assert not loop.states


def test_types_get_the_axis_of_the_iterations():
    assert str(with_axis(FLOATS, -2, dims.name("n"), "x")) == "float32[2, n, 3]"
    assert with_axis(FLOATS, None, dims.name("n"), "x") is FLOATS
    with pytest.raises(StepError, match="x cannot have iterations along axis 3"):
        with_axis(FLOATS, 3, dims.name("n"), "x")
    with pytest.raises(StepError, match=r"x is seq\(float32\[2, 3\]\), and only tensors have an axis of iterations"):
        with_axis(SequenceType(FLOATS), 0, dims.name("n"), "x")


def test_output_of_another_rank_is_not_carried():
    module = read("main(%h: float32[2], %g: float32[2, 2]) { return y = %g }")
    with pytest.raises(StepError, match=r"input 'h' is float32\[2\], and output 'y', which it would be next, is"):
        require_same_kind(module, "h", "y")


def test_free_name_is_numbered_where_it_is_taken():
    assert free_name("a", set()) == "a"
    assert free_name("a", {"a", "a.1"}) == "a.2"
