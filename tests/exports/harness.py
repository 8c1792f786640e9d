"""Models that an exporter wrote, run by whorl and compared with the framework that they come from.

A model meets three shapes, and each of them three times with other numbers, all in one session of the default backend:
code compiled for one shape, memory left by one run and paths learned from one feed must not show in another.

How close is close: a float of an output may differ by `ROUNDINGS` units in the last place of that output's largest
magnitude, since what is summed in another order errs in proportion to what was summed. A case that divides by a small
difference or sums thousands of terms names how much more that is. Integers, booleans and strings are equal.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import pytest
from onnx import ModelProto

import whorl

ROUNDINGS = 64
DRAWS = 3
REQUIRED = "WHORL_REQUIRE_EXPORTS"
ALL = os.environ.get(REQUIRED) == "1"

Feeds = Mapping[str, Any]


def require_all() -> None:
    """Skip the module except where every package must be there, which is where `WHORL_REQUIRE_EXPORTS=1`."""
    if not ALL:
        pytest.skip(f"needs packages that `make test-exports` installs; it sets {REQUIRED}=1", allow_module_level=True)


@dataclass(frozen=True)
class Export:
    """A model, what to feed it for a shape and a draw, and what the framework makes of that feed.

    `amplification` says by how much the model enlarges the rounding of its inputs. `rows_lie_anyhow`: the exporter
    turns rows of numbers into columns, or columns into rows, as it likes.
    """

    model: ModelProto | Path
    shapes: Sequence[Any]
    draw: Callable[[Any, np.random.Generator], Feeds]
    expect: Callable[[Feeds], Sequence[Any]]
    amplification: float = 1.0
    rows_lie_anyhow: bool = False


def check(export: Export) -> None:
    """The session agrees with the framework and with the interpreter in every run, and keeps results handed out.

    Sessions that optimise nothing give the same bits.
    """
    session, oracle = _session(export.model), _session(export.model, "interpreter")
    plain = [_session(export.model, level="ORT_DISABLE_ALL"), _session(export.model, "interpreter", "ORT_DISABLE_ALL")]
    remaining = []
    for draw in range(DRAWS):
        for position, shape in enumerate(export.shapes):
            where = f"shape {shape}, run {draw + 1}"
            feeds = export.draw(shape, np.random.default_rng([draw, position]))
            interpreted = oracle.run(None, feeds)
            expected = export.expect(feeds)
            if export.rows_lie_anyhow:
                expected = [lie_as(e, i) for e, i in zip(expected, interpreted, strict=True)]
            compare(expected, interpreted, export.amplification, f"interpreter, {where}")
            actual = session.run(None, feeds)
            compare(interpreted, actual, export.amplification, f"native against interpreter, {where}")
            compare(expected, actual, export.amplification, where)
            if draw == 0:
                for best, other in zip((actual, interpreted), plain, strict=True):
                    assert_same_bits(other.run(None, feeds), best, f"levels, {where}")
                remaining.append((expected, actual, where))
    for expected, actual, where in remaining:
        compare(expected, actual, export.amplification, f"{where}, after all runs")


def lie_as(expected: Any, actual: Any) -> Any:
    """The same numbers in the same order, in the shape found."""
    if isinstance(expected, list):
        return expected
    return expected.reshape(actual.shape) if np.size(expected) == np.size(actual) > 0 and np.ndim(actual) else expected


def _session(
    model: ModelProto | Path, backend: str | None = None, level: str = "ORT_ENABLE_ALL"
) -> whorl.InferenceSession:
    options = whorl.SessionOptions()
    options.backend = backend
    options.graph_optimization_level = whorl.GraphOptimizationLevel[level]
    return whorl.InferenceSession(model, options)


def assert_same_bits(expected: Any, outcome: Any, where: str) -> None:
    """Equal types, shapes and bits, in lists too."""
    if isinstance(expected, list):
        assert len(expected) == len(outcome), where
        for pair in zip(expected, outcome, strict=True):
            assert_same_bits(*pair, where)
    elif isinstance(expected, np.ndarray) and expected.dtype != object:
        assert (expected.dtype, expected.shape) == (outcome.dtype, outcome.shape), where
        assert expected.tobytes() == outcome.tobytes(), where
    else:
        assert str(expected) == str(outcome), where


def compare(expected: Sequence[Any], actual: Sequence[Any], amplification: float, where: str) -> None:
    """All outputs are close; the text of a failure names the output."""
    assert len(expected) == len(actual), f"{where}: {len(expected)} outputs expected, {len(actual)} found"
    for position, (e, f) in enumerate(zip(expected, actual, strict=True)):
        compare_output(e, f, amplification, f"{where}, output {position}")


def compare_output(expected: Any, actual: Any, amplification: float, where: str) -> None:
    """Sequences element by element, arrays by shape, element type and value."""
    if isinstance(expected, list):
        assert isinstance(actual, list) and len(expected) == len(actual), f"{where}: {len(expected)} elements expected"
        for k, (e, f) in enumerate(zip(expected, actual, strict=True)):
            compare_output(e, f, amplification, f"{where}[{k}]")
        return
    if isinstance(expected, dict):
        assert list(expected) == list(actual), f"{where}: keys {list(expected)} expected, {list(actual)} found"
        for key, e in expected.items():
            compare_output(np.array(e), np.array(actual[key], np.float32), amplification, f"{where}[{key!r}]")
        return
    expected, actual = np.asarray(expected), np.asarray(actual)
    assert expected.shape == actual.shape, f"{where}: shape {expected.shape} expected, {actual.shape} found"
    assert _kind(expected) == _kind(actual), f"{where}: {expected.dtype} expected, {actual.dtype} found"
    if actual.dtype.kind in "fc":
        np.testing.assert_allclose(actual, expected, 0, allowance(expected, actual, amplification), err_msg=where)
    else:
        np.testing.assert_array_equal(actual, expected, err_msg=where)


def allowance(expected: np.ndarray, actual: np.ndarray, amplification: float) -> float:
    """The difference that rounding explains."""
    finite = np.abs(expected[np.isfinite(expected)])
    unit = max(np.finfo(array.dtype).eps for array in (expected, actual))
    return float(ROUNDINGS * amplification * unit * finite.max(initial=0.0))


def _kind(array: np.ndarray) -> str:
    return "text" if array.dtype.kind in "OUS" else array.dtype.kind


def run_by_onnxruntime(model: ModelProto) -> Callable[[Feeds], Sequence[Any]]:
    """onnxruntime in the place of a framework, for a model that does not mean what the framework does."""
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    return lambda feeds: session.run(None, dict(feeds))
