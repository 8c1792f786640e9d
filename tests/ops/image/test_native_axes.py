"""Compiled Resize between lengths that only the run knows, against `run`: all modes, sizes and scales."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from fuzz.cell_runs import run, session
from onnx import helper

from whorl.ops.image.resampling import COORDINATES, ROUNDINGS
from whorl.runtime.compiled.launch import Launch
from whorl.runtime.compiled.partition import CompiledSubgraph

LENGTHS = [(2, 3), (7, 2), (5, 5), (1, 4), (3, 9), (0, 2)]
FLOAT, INT64 = 1, 7


def proto(inputs: list[Any], names: list[str], values: dict[str, np.ndarray], **attributes: Any) -> bytes:
    """A model of a Resize of `x` along its last axis."""
    constants = [helper.make_tensor(n, FLOAT, v.shape, v) for n, v in values.items()]
    node = helper.make_node("Resize", names, ["y"], axes=[1], **attributes)
    result = helper.make_tensor_value_info("y", FLOAT, None)
    graph = helper.make_graph([node], "g", inputs, [result], constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 19)], ir_version=9).SerializeToString()


def check(data: bytes, runs: list[dict[str, np.ndarray]]) -> None:
    native, oracle = session(data, "native"), session(data, "interpreter")
    for feeds in runs:
        expected, actual = run(oracle, feeds), run(native, feeds)
        assert actual.error == expected.error, f"{actual.text or 'values'} instead of {expected.text or 'values'}"
        for e, a in zip(expected.outputs or (), actual.outputs or (), strict=True):
            np.testing.assert_allclose(a, e, 3e-7, 3e-7)
            assert a.shape == e.shape
    caches = [part.cache for part in native.plan.parts if isinstance(part, CompiledSubgraph)]
    programs = [program for cache in caches for program in cache.programs.values()]
    assert any(isinstance(p, Launch) and p.graph.names and not p.graph.program.calls for p in programs)


def image(length: int) -> np.ndarray:
    x = np.random.default_rng(length).normal(size=(2, length)).astype(np.float32)
    x[:, length // 2 : length // 2 + 1] = np.inf
    return x


@pytest.mark.parametrize("coordinates", COORDINATES)
@pytest.mark.parametrize("mode", ["nearest", "linear", "cubic"])
def test_axis_of_a_size_that_is_an_input(mode: str, coordinates: str) -> None:
    x = helper.make_tensor_value_info("x", FLOAT, [2, "n"])
    sizes = helper.make_tensor_value_info("s", INT64, [1])
    more = {"coordinate_transformation_mode": coordinates, "mode": mode, "extrapolation_value": 9.0}
    if mode == "cubic":
        more |= {"exclude_outside": 1, "cubic_coeff_a": -0.5}
    data = proto([x, sizes], ["x", "roi", "", "s"], {"roi": np.array([0.1, 1.3], np.float32)}, **more)
    runs = [{"x": image(n), "s": np.array([size])} for n, size in (*LENGTHS, (3, 0), (3, -1), (4, 1))]
    check(data, runs)


@pytest.mark.parametrize("scale", [0.5, 0.7, 1.3, 2.0, 1.0])
@pytest.mark.parametrize("mode", ["nearest", "linear", "cubic"])
def test_axis_by_a_scale(mode: str, scale: float) -> None:
    x = helper.make_tensor_value_info("x", FLOAT, [2, "n"])
    values = {"scales": np.array([scale], np.float32)}
    for coordinates, antialias in itertools.product(("half_pixel", "asymmetric", "half_pixel_symmetric"), (0, 1)):
        more = {"coordinate_transformation_mode": coordinates, "mode": mode, "antialias": antialias}
        check(proto([x], ["x", "", "scales"], values, **more), [{"x": image(n)} for n, _ in LENGTHS])


@pytest.mark.parametrize("rounding", ROUNDINGS)
def test_nearest_elements_by_all_roundings(rounding: str) -> None:
    x = helper.make_tensor_value_info("x", FLOAT, [2, "n"])
    for scale in (0.4, 1.5, 2.5):
        values = {"scales": np.array([scale], np.float32)}
        check(proto([x], ["x", "", "scales"], values, nearest_mode=rounding), [{"x": image(n)} for n in range(2, 30)])
