"""Traces written and read again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from traced_models import NESTED, X, traced_models

import whorl

FEEDS = {"n": np.array(4), "x": X}


def same(ours: Any, expected: Any) -> bool:
    if isinstance(expected, list):
        return isinstance(ours, list) and all(same(*pair) for pair in zip(ours, expected, strict=True))
    return ours.dtype == expected.dtype and np.array_equal(ours, expected)


@pytest.mark.parametrize("ending", [".npz", ".zarr"])
@pytest.mark.parametrize("name", ["nested", "no iteration", "sequence_of_different_shapes", "while_over_strings"])
def test_written_trace_is_read_again(tmp_path: Path, name: str, ending: str) -> None:
    module, inputs = traced_models(tmp_path)[name]
    trace = whorl.trace(module, inputs)
    whorl.save_trace(trace, tmp_path / f"out{ending}")
    again = whorl.load_trace(tmp_path / f"out{ending}")
    assert list(again) == list(trace) and again.lines() == trace.lines()
    for path in trace:
        ours, expected = again.records(path), trace.records(path)
        assert ours.loops == expected.loops and np.array_equal(ours.iterations, expected.iterations)
        assert same(ours.values, expected.values)


def test_values_lie_under_their_paths(tmp_path: Path) -> None:
    whorl.save_trace(whorl.trace(NESTED, FEEDS, values="outer/t"), tmp_path / "t.npz")
    with np.load(tmp_path / "t.npz") as file:
        assert file["outer/t"].shape == (4, 3) and file["outer/t@iterations"].tolist() == [[0], [1], [2], [3]]


def test_other_endings_are_refused(tmp_path: Path) -> None:
    with pytest.raises(whorl.SaveError) as caught:
        whorl.save_trace(whorl.trace(NESTED, FEEDS), tmp_path / "t.csv")
    assert str(caught.value) == f"a trace cannot be written to '{tmp_path / 't.csv'}'\n  fix: choose .npz or .zarr"


def test_file_without_a_trace_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "t.npz"
    np.savez(path, a=np.zeros(2))
    with pytest.raises(whorl.LoadError) as caught:
        whorl.load_trace(path)
    assert str(caught.value) == f"'{path}' holds no trace: 'trace'"
