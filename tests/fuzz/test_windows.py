"""Random convolutions and pools, on one core and on two, against the interpreter.

`WHORL_FUZZ_EXAMPLES` sets how many are drawn, anew each time; without it they are the same 60. A failure prints what
reproduces it.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import assume, given, note
from hypothesis import strategies as st
from onnx import ModelProto, TensorProto, helper, numpy_helper

import whorl
from fuzz.test_transformations import fuzz

pytestmark = pytest.mark.slow
FEATURES = st.sampled_from((1, 5, 12, 13, 32, 47, 48, 61, 128, 265))
"""Few, blocks of one height and of two, and as many as windows are gathered for."""
MOST_PRODUCTS = 1 << 25


class Geometry(NamedTuple):
    """Windows along each axis: lengths, kernel, strides, dilations, and padding before and after."""

    lengths: list[int]
    kernel: list[int]
    strides: list[int]
    dilations: list[int]
    before: list[int]
    after: list[int]

    @property
    def counts(self) -> list[int]:
        rows = zip(*self, strict=True)
        return [(n + b + a - (k - 1) * d - 1) // s + 1 for n, k, s, d, b, a in rows]

    @property
    def attributes(self) -> dict[str, Any]:
        return {"kernel_shape": self.kernel, "strides": self.strides, "pads": self.before + self.after}


@st.composite
def geometries(draw: st.DrawFn, most_padding: int, most_dilation: int) -> Geometry:
    rank = draw(st.sampled_from((2, 2, 1, 3)))

    def each(low: int, high: int) -> list[int]:
        return draw(st.lists(st.integers(low, high), min_size=rank, max_size=rank))

    kernel, dilations, strides = each(1, 5), each(1, most_dilation), each(1, 3)
    lengths, before, after = each(1, 18 if rank < 3 else 6), each(0, most_padding), each(0, most_padding)
    if draw(st.booleans()):  # as many windows as elements, as most networks have
        reach = [(k - 1) * d for k, d in zip(kernel, dilations, strict=True)]
        before = [min(most_padding, n // 2) for n in reach]
        after = [min(most_padding, n - n // 2) for n in reach]
    result = Geometry(lengths, kernel, strides, dilations, before, after)
    assume(all(count > 0 for count in result.counts))
    assume(all(max(b, a) < k * d for k, d, b, a in zip(kernel, dilations, before, after, strict=True)))
    return result


def model(nodes: list[Any], inputs: dict[str, np.ndarray], weights: dict[str, np.ndarray]) -> ModelProto:
    dtype = helper.np_dtype_to_tensor_dtype(inputs["x"].dtype)
    arguments = [helper.make_tensor_value_info(name, dtype, x.shape) for name, x in inputs.items()]
    fixed = [numpy_helper.from_array(array, name) for name, array in weights.items()]
    result = helper.make_tensor_value_info(nodes[-1].output[0], TensorProto.FLOAT if dtype == 1 else dtype, None)
    graph = helper.make_graph(nodes, "windows", arguments, [result], fixed)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 19)], ir_version=9)


def check(proto: ModelProto, feeds: dict[str, np.ndarray], terms: int) -> None:
    """Both cores give the bits of one, and what the interpreter gives but for the rounding of so many terms."""
    expected, one, two = (run(proto, feeds, *how) for how in (("interpreter", 1), ("native", 1), ("native", 2)))
    assert one.tobytes() == two.tobytes()
    np.testing.assert_allclose(one, expected, rtol=0, atol=8 * terms * np.finfo(one.dtype).eps)


def run(proto: ModelProto, feeds: dict[str, np.ndarray], backend: str, threads: int) -> np.ndarray:
    options = whorl.SessionOptions()
    options.backend, options.intra_op_num_threads = backend, threads
    return whorl.InferenceSession(proto.SerializeToString(), options).run(None, feeds)[0]


@fuzz
@given(st.data())
def test_convolutions_give_what_the_interpreter_gives(data):
    where = data.draw(geometries(3, 2))
    group, depth, each = data.draw(st.sampled_from((1, 1, 2))), data.draw(st.integers(1, 9)), data.draw(FEATURES)
    terms = depth * math.prod(where.kernel)
    assume(group * each * terms * math.prod(where.counts) < MOST_PRODUCTS)
    rng, dtype = np.random.default_rng(terms), np.dtype(data.draw(st.sampled_from(("float32", "float32", "float64"))))
    weights = {
        "w": rng.uniform(-1, 1, (group * each, depth, *where.kernel)).astype(dtype),
        "b": rng.uniform(-1, 1, group * each).astype(dtype),
    }
    feeds = {"x": rng.uniform(-1, 1, (data.draw(st.integers(1, 2)), group * depth, *where.lengths)).astype(dtype)}
    attributes = where.attributes | {"dilations": where.dilations, "group": group}
    nodes = [helper.make_node("Conv", ["x", "w", "b"], ["conv"], **attributes)]
    if data.draw(st.booleans()):
        feeds["more"] = rng.uniform(-1, 1, (len(feeds["x"]), group * each, *where.counts)).astype(dtype)
        nodes.append(helper.make_node("Add", ["conv", "more"], ["sum"]))
    if data.draw(st.booleans()):
        nodes.append(helper.make_node("Relu", [nodes[-1].output[0]], ["positive"]))
    note((where, group, depth, each, dtype, [node.op_type for node in nodes]))
    check(model(nodes, feeds, weights), feeds, terms + 2)


@fuzz
@given(st.data())
def test_pools_give_what_the_interpreter_gives(data):
    where = data.draw(geometries(2, 1))
    if data.draw(st.integers(0, 4)) == 0:
        nothing = [0] * len(where.lengths)
        where = where._replace(kernel=where.lengths, before=nothing, after=nothing)
    op, rng = data.draw(st.sampled_from(("MaxPool", "AveragePool"))), np.random.default_rng(sum(where.lengths))
    feeds = {"x": rng.uniform(-1, 1, (2, data.draw(st.integers(1, 9)), *where.lengths)).astype(np.float32)}
    note((op, where))
    check(model([helper.make_node(op, ["x"], ["y"], **where.attributes)], feeds, {}), feeds, math.prod(where.kernel))
