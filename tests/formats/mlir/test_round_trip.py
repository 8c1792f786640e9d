"""ONNX models through MLIR text and back give equal results: models of loops, and the backend suite."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from formats.mlir.round_trip import models, same_results, through_text
from ir.structure import plain
from onnx_text import ROLLOUT

import whorl
from whorl.formats.mlir.saving import print_mlir

KNOWN = {
    "test_mod_float_edge_cases_fmod_0_float16": "signs of zeros differ",
    "test_mod_float_edge_cases_fmod_0_float32": "signs of zeros differ",
    "test_mod_float_edge_cases_fmod_0_float64": "signs of zeros differ",
    "test_gradient_of_add": "Gradient does not load",
    "test_gradient_of_add_and_mul": "Gradient does not load",
}


def test_loop_model_keeps_names_and_results(tmp_path: Path) -> None:
    source = whorl.load(ROLLOUT)
    whorl.save(source, tmp_path / "rollout.mlir")
    again = whorl.load(tmp_path / "rollout.mlir")
    feeds = {"count": np.array(4), "table": np.arange(12, dtype=np.float32)}
    before, after = whorl.run(source, feeds), whorl.run(again, feeds)
    assert list(before) == list(after) and plain(list(before.values())) == plain(list(after.values()))
    whorl.save(again, tmp_path / "rollout.onnx")
    assert plain(list(whorl.run(whorl.load(tmp_path / "rollout.onnx"), feeds).values())) == plain(list(before.values()))


def test_text_of_what_was_read_is_the_same_text() -> None:
    once = through_text(whorl.load(ROLLOUT))
    assert print_mlir(through_text(once)) == print_mlir(once)


@pytest.mark.slow
def test_backend_suite_gives_equal_results_through_text() -> None:
    failed = set()
    total = 0
    for name, proto, case in models():
        total += 1
        try:
            if not same_results(proto, case):
                failed.add(name)
        except whorl.WhorlError:
            failed.add(name)
    assert total == 2033 and failed <= set(KNOWN)
