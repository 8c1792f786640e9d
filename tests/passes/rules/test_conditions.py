"""What rules ask of a match."""

import ml_dtypes
import numpy as np
import pytest
from passes.programs import read

from whorl.ir.build import Builder
from whorl.ir.elements.base import elements_of
from whorl.ir.graph import Module, Node, Region
from whorl.ir.infer import Inference
from whorl.passes.context import Context, PassOptions
from whorl.passes.rules.conditions import (
    bits_are,
    elements,
    equals,
    fast_math,
    is_not_scalar,
    is_scalar,
    is_truth,
    is_whole,
    joins_small,
    may_regroup,
    same_type,
    size_in_bytes,
    static_shape,
)
from whorl.passes.rules.pattern import Match


class Rewriter:
    """What conditions see of a rewriter: the options."""

    def __init__(self, **options) -> None:
        self.context = Context(options=PassOptions(**options))


def types(*texts: str):
    arguments = ", ".join(f"%v{k}: {text}" for k, text in enumerate(texts))
    return [value.type for value in read(f"main({arguments}) {{\n  return v0 = %v0\n}}").main.arguments]


def match(dtype: str = "float32", options=None, **constants) -> Match:
    """A match of a root of an element type, with constants for names."""
    module = read(f"main(%x: {dtype}[2]) {{\n  %r: {dtype}[2] = Identity(%x)\n  return r = %r\n}}")
    (node,) = module.main.nodes
    assert isinstance(node, Node)
    result = Match(node, Rewriter(**(options or {})))  # type: ignore[arg-type]
    build = Builder(Region("constants"), Inference())
    result.values = {name: build.constant(value) for name, value in constants.items()} | {"x": module.main.arguments[0]}
    return result


@pytest.mark.parametrize(
    ("a", "b", "same"),
    [
        ("float32[2]", "float32[2]", True),
        ("float32[]", "float32[1]", False),
        ("float32[2]", "float64[2]", False),
        ("float32[N, 2*M]", "float32[N, 2*M]", True),
        ("float32[N]", "float32[M]", False),
        ("float32[*]", "float32[*]", False),
        ("seq(float32[2])", "seq(float32[2])", False),
    ],
)
def test_types_are_the_same_only_where_it_is_proved(a, b, same):
    assert same_type(*types(a, b)) is same


@pytest.mark.parametrize(
    ("type", "shape", "size"),
    [
        ("float32[]", (), 4),
        ("int8[2, 0]", (2, 0), 0),
        ("float64[3, 1]", (3, 1), 24),
        ("float32[N]", None, None),
        ("float32[*]", None, None),
        ("seq(float32[2])", None, None),
    ],
)
def test_shape_and_bytes_of_types_with_numbers_alone(type, shape, size):
    (result,) = types(type)
    assert (static_shape(result), size_in_bytes(result)) == (shape, size)


@pytest.mark.parametrize(("type", "answer"), [("float32[]", True), ("float32[1]", True), ("float32[1, 1]", False)])
def test_scalar_is_a_tensor_of_one_element_and_at_most_one_axis(type, answer):
    (value,) = read(f"main(%x: {type}) {{\n  return x = %x\n}}").main.arguments
    assert is_scalar(value) is answer


@pytest.mark.parametrize(
    ("array", "number", "bits", "equal"),
    [
        (np.array([0.0, 0.0], np.float32), 0.0, True, True),
        (np.array([0.0, -0.0], np.float32), 0.0, False, True),
        (np.array(-0.0, np.float16), -0.0, True, True),
        (np.array([], np.float32), 0.0, False, False),
        (np.array([np.nan], np.float32), np.nan, False, False),
        (np.array([1, 1], np.int8), 1.0, True, True),
        (np.array([0], np.uint8), -0.0, True, True),
        (np.array([True, True]), 1.0, True, True),
        (np.array(["1"], object), 1.0, False, False),
        (np.array([1, 1], ml_dtypes.bfloat16), 1.0, True, True),
        (np.array([-1], ml_dtypes.int4), -1.0, True, True),
        (np.concatenate([np.ones(1 << 17, np.float32), [np.float32(2)]]), 1.0, False, False),
        (elements_of(np.ones((300, 300), np.float32)), 1.0, True, True),
    ],
)
def test_every_element_is_a_number_bit_by_bit_or_equal_to_it(array, number, bits, equal):
    result = match(c=array)
    assert (bits_are("c", number)(result), equals("c", number)(result)) == (bits, equal)


def test_value_that_is_no_constant_equals_nothing():
    assert not equals("x", 0.0)(match()) and elements(match()["x"]) is None


@pytest.mark.parametrize(
    ("dtype", "is_fast", "answer"),
    [
        ("int8", False, True),
        ("uint64", False, True),
        ("float32", False, False),
        ("float16", True, True),
        ("bool", True, False),
        ("string", True, False),
    ],
)
def test_integers_regroup_always_and_floats_with_fast_math(dtype, is_fast, answer):
    result = match(dtype, {"fast_math": is_fast})
    assert may_regroup(result) is answer and fast_math(result) is is_fast
    assert is_whole(result) is (dtype in ("int8", "uint64")) and is_truth(result) is (dtype == "bool")


@pytest.mark.parametrize(
    ("a", "b", "answer"),
    [
        ((), (5000,), True),
        ((64, 1), (1, 64), True),
        ((65, 1), (1, 64), False),
        ((0, 9000), (1, 9000), True),
        ((5000, 1), (5000, 1), True),
        ((5000, 1), (2,), True),
        ((5000, 1), (3,), False),
    ],
)
def test_constants_join_where_they_do_not_grow_much(a, b, answer):
    assert joins_small(match(c1=np.zeros(a, np.float32), c2=np.zeros(b, np.float32))) is answer
    assert joins_small(match(c1=np.zeros(a, np.float32)))


def test_only_small_constants_are_looked_at_as_a_whole():
    result = match(c=np.arange(5))
    assert elements(result["c"], 4) is None
    small = elements(result["c"], 5)
    assert small is not None and small.tolist() == [0, 1, 2, 3, 4]
    assert is_not_scalar("c")(result)
    assert isinstance(Module(Region()).main, Region)
