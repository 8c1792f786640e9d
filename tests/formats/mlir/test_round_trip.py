"""ONNX models through MLIR text and back give equal results: models of loops, and the backend suite."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np
import onnx
import pytest
from formats.mlir.round_trip import models, same_results, through_text
from ir.structure import plain
from onnx_text import ROLLOUT

import whorl
from whorl.conformance.cases import load_cases
from whorl.formats.mlir.parser import parse_program
from whorl.formats.mlir.reader import read_function
from whorl.formats.mlir.saving import print_mlir
from whorl.formats.options import LoadOptions

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


def without_shapes(data: bytes) -> bytes:
    """A model whose inputs and outputs are declared without rank."""
    proto = onnx.ModelProto.FromString(data)
    for info in (*proto.graph.input, *proto.graph.output):
        if info.type.HasField("tensor_type"):
            info.type.tensor_type.ClearField("shape")
    del proto.graph.value_info[:]
    return proto.SerializeToString()


def unstable(models: Iterable[bytes]) -> list[str]:
    """The texts that are other ones once they were read, with and without ranks of the inputs."""
    actual = []
    for data in models:
        for passed in (data, without_shapes(data)):
            try:
                text = print_mlir(whorl.load(passed))
            except whorl.WhorlError:
                continue
            program = parse_program(text, "model.mlir")
            if print_mlir(read_function(program, program.functions[0], LoadOptions()).module) != text:
                actual.append(text)
    return actual


def test_text_is_a_fixed_point_with_and_without_ranks() -> None:
    assert unstable(case.data for case in load_cases()[::9]) == []


@pytest.mark.slow
def test_text_of_the_backend_suite_is_a_fixed_point() -> None:
    some = (proto for name, proto, _ in models() if len(name) % 4 == 0 and name not in KNOWN)
    assert unstable(proto.SerializeToString() for proto in some) == []


@pytest.mark.slow
def test_every_third_case_of_the_backend_suite_gives_equal_results_through_text() -> None:
    failed = set()
    cases = list(models())
    for name, proto, case in cases[::3]:
        try:
            if not same_results(proto, case):
                failed.add(name)
        except whorl.WhorlError:
            failed.add(name)
    assert len(cases) == 2033 and failed <= set(KNOWN)
