"""Names inside one graph, and captured names of graphs around it."""

import numpy as np

from whorl.formats.onnx.scope import Scope, align_captures
from whorl.ir.graph import Region, Value
from whorl.ir.infer import Inference
from whorl.ir.types import TensorType

PAIR = TensorType(np.dtype(np.float32), (2,))


def outermost() -> tuple[Scope, Value]:
    """A scope with the input x."""
    scope = Scope(Region("main"), Inference())
    x = scope.values["x"] = scope.region.add_argument("x", PAIR)
    return scope, x


def names(scope: Scope) -> list[str]:
    return [value.name for value in scope.region.arguments]


def test_name_of_an_outer_graph_is_captured_once_on_every_level():
    scope, x = outermost()
    middle = scope.child("body")
    inner = middle.child("branch")
    captured = inner.find("x")
    assert captured is inner.find("x")
    assert captured not in (None, x)
    assert captured == inner.capture(middle.capture(x))
    assert (names(middle), names(inner)) == (["x"], ["x"])


def test_asking_whether_a_name_has_a_meaning_captures_nothing():
    scope, _ = outermost()
    inner = scope.child("body")
    assert inner.defines("x")
    assert not inner.defines("y")
    assert names(inner) == []


def test_inner_names_hide_outer_ones():
    scope, x = outermost()
    inner = scope.child("body")
    own = inner.values["x"] = inner.region.add_argument("x", PAIR)
    assert inner.find("x") is own
    assert scope.find("x") is x
    assert inner.captured == {}


def test_initializer_is_put_into_the_graph_when_it_is_first_read():
    scope, _ = outermost()
    scope.add_constant("w", np.ones(2, np.float32))
    scope.add_constant("unused", np.ones(2, np.float32))
    assert scope.region.nodes == []
    assert scope.find("w") is scope.find("w")
    assert [node.outputs[0].name for node in scope.region.nodes] == ["w"]


def test_absent_name_has_a_meaning_and_no_value():
    scope, _ = outermost()
    inner = scope.child("function")
    inner.absent.add("x")
    assert inner.defines("x")
    assert inner.find("x") is None


def test_sibling_regions_get_the_same_captures_in_one_order():
    scope, x = outermost()
    y = scope.values["y"] = scope.region.add_argument("y", PAIR)
    one, two = scope.child("then_branch"), scope.child("else_branch")
    one.find("y")
    two.find("x")
    assert align_captures([one, two]) == [y, x]
    assert names(one) == names(two) == ["y", "x"]


def test_captures_come_behind_the_arguments_of_the_region():
    scope, x = outermost()
    body = scope.child("body")
    body.find("x")
    body.values["i"] = body.region.add_argument("i", PAIR)
    body.region.arguments[:] = [body.region.arguments[1], body.region.arguments[0]]
    assert align_captures([body], 1) == [x]
    assert names(body) == ["i", "x"]
    assert [value.index for value in body.region.arguments] == [0, 1]
