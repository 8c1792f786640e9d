"""Loops in which OpenVINO's CPU plugin would keep a state in the place of a slice or of another state."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from formats.openvino.one_layer import openvino_run, whorl_run, written

from whorl.ir.build import Builder
from whorl.ir.dtypes import BOOL, FLOAT32, INT64
from whorl.ir.graph import Module, Region, Value
from whorl.ir.infer import Inference
from whorl.ir.types import TensorType
from whorl.ops.control.flow import Collected, Loop, Scanned
from whorl.ops.elementwise.arithmetic import Add, Identity, Mul, Sub
from whorl.ops.linear.products import MatMul
from whorl.ops.movement.shapes import Squeeze, Unsqueeze

Step = Callable[[Builder, list[Value]], list[Value]]
ROWS = np.array([[[1, 2], [3, 4]], [[10, 20], [30, 40]], [[100, 200], [300, 400]]], np.float32)


def looped(inputs: list[np.ndarray], carried: int, step: Step) -> Module:
    """A loop over initial states, then at most one tensor of which a step takes a row; its first state is collected."""
    region, inference = Region(), Inference()
    build, body = Builder(region, inference), Region("body")
    passed = [region.add_argument(f"x{k}", TensorType(x.dtype, x.shape)) for k, x in enumerate(inputs)]
    body.add_argument("i", TensorType(INT64, ()))
    go = body.add_argument("go", TensorType(BOOL, ()))
    shapes = [x.shape if k < carried else x.shape[1:] for k, x in enumerate(inputs)]
    inner = Builder(body, inference)
    after = step(inner, [body.add_argument(f"s{k}", TensorType(FLOAT32, shape)) for k, shape in enumerate(shapes)])
    body.results = [inner.add(Identity(), go), *after, after[0]]
    loop = Loop(carried, (Scanned(),) * (len(inputs) - carried), (Collected(),))
    trip = build.constant(np.array(3, np.int64)) if carried == len(inputs) else None
    names = [f"y{k}" for k in range(carried + 1)]
    region.results = build.add_many(loop, [trip, None, *passed], names, [body])
    return Module(region, names)


def check(inputs: list[np.ndarray], carried: int, step: Step, folder: Path) -> None:
    module = looped(inputs, carried, step)
    for expected, actual in zip(whorl_run(module, inputs), openvino_run(written(module, folder), inputs), strict=True):
        np.testing.assert_allclose(actual, expected, rtol=1e-5)


@pytest.mark.parametrize(
    "step",
    [
        lambda b, s: [b.add(Add(), s[1], s[0])],
        lambda b, s: [b.add(Sub(), s[1], s[0])],
        lambda b, s: [b.add(Add(), s[1], b.add(MatMul(), s[0], s[0]))],
    ],
    ids=["sum", "difference", "product"],
)
def test_a_state_computed_from_a_slice_keeps_its_location(step: Step, tmp_path: Path) -> None:
    check([ROWS[0] / 100, ROWS / 100], 1, step, tmp_path)


def turned(build: Builder, x: Value) -> Value:
    return build.add(Unsqueeze(), build.add(Squeeze(), x, build.int64(1)), build.int64(1))


@pytest.mark.parametrize(
    "step",
    [
        lambda b, s: [s[1], s[0]],
        lambda b, s: [turned(b, s[1]), turned(b, s[0])],
        lambda b, s: [turned(b, s[1]), b.add(Mul(), s[0], s[1])],
    ],
    ids=["as they are", "in other shapes", "one computed"],
)
def test_states_that_cross_do_not_mix(step: Step, tmp_path: Path) -> None:
    check([ROWS[0][:, :1], ROWS[1][:, :1]], 2, step, tmp_path)
