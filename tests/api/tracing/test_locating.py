"""The first iteration in which something goes wrong."""

from __future__ import annotations

import numpy as np
import pytest
from onnx_text import model
from traced_models import NESTED, X

import whorl

FEEDS = {"n": np.array(5), "x": X}
ROOTS = model("""main (int64 n, float[2] x) => (float[2] y) {
    start = Neg(x)
    [newton] y = Loop (n, , start) <body = a (int64 i, bool k, float[2] s) => (bool h, float[2] t) {
        h = Identity(k)
        one = Constant<value = float {1}> ()
        lower = Add(s, one)
        flipped = Neg(lower)
        [root] t = Sqrt(flipped)
    }>
}""")


@pytest.mark.parametrize("backend", ["native", "interpreter"])
@pytest.mark.parametrize(("x", "iteration"), [([4, 2], 1), ([0.5, 9], 0)])
def test_first_nan_is_located_at_its_node(x: list[float], iteration: int, backend: str) -> None:
    located = whorl.locate(ROOTS, {"n": np.array(6), "x": np.float32(x)}, "nan", backend=backend)
    assert located is not None
    assert (located.loops, located.node, located.value) == ([("newton", iteration)], "Sqrt 'root'", "newton/t")
    assert list(located.operands) == ["flipped", "t"]
    assert (located.operands["flipped"] < 0).any() and np.isnan(located.operands["t"]).any()


def test_infinity_in_a_branch_of_a_nested_loop_is_located() -> None:
    located = whorl.locate(NESTED, {"n": np.array(6), "x": X * 1e6}, "inf")
    trace = whorl.trace(NESTED, {"n": np.array(6), "x": X * 1e6}, values="r").records("r")
    row = int(np.isinf(trace.values).any(1).argmax())
    assert located is not None
    assert [number for _, number in located.loops] == trace.iterations[row].tolist()
    assert (located.node, located.value) == ("Mul 'r'", "outer/inner/choice/else_branch/r")


def test_infinity_that_comes_in_is_that_of_the_main_graph() -> None:
    located = whorl.locate(ROOTS, {"n": np.array(2), "x": np.float32([np.inf, 0])}, "inf")
    assert located is not None and (located.loops, located.node, located.value) == ([], "the model's input", "x")


def test_condition_is_located_where_its_value_is_made() -> None:
    located = whorl.locate(NESTED, FEEDS, "max(d) > 20")
    trace = whorl.trace(NESTED, FEEDS, values="d").records("d")
    row = int((trace.values.max(1) > 20).argmax())
    assert located is not None
    assert [number for _, number in located.loops] == trace.iterations[row].tolist()
    assert (located.node, list(located.operands)) == ("Add 'd'", ["u", "d"])


@pytest.mark.parametrize("condition", ["nan", "abs(s) > 1e30"])
def test_condition_that_is_never_true_is_nowhere(condition: str) -> None:
    assert whorl.locate(NESTED, {"n": np.array(2), "x": X}, condition) is None


@pytest.mark.parametrize("count", [0, 1])
def test_loop_of_few_iterations_has_nothing_to_locate(count: int) -> None:
    assert whorl.locate(NESTED, {"n": np.array(count), "x": X}, "inf") is None
