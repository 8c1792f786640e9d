"""Random loops and branches of ONNX: as IR, OpenVINO gives what whorl gives; back in ONNX, onnxruntime does."""

from pathlib import Path

import numpy as np
import onnx
import pytest
from formats.openvino.draws import drawn
from formats.openvino.engine import Engine
from formats.openvino.onnx_programs import Program, programs
from hypothesis import given, note

import whorl
from whorl.formats.onnx.saving import to_proto
from whorl.ir.graph import Module

RUNS = 6
"""Of the trip counts and lengths of a program, how many are run."""

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("programs")


def expected(program: Program) -> tuple[Module, list[list[np.ndarray]]]:
    """The module of a program, and what whorl's interpreter gives in each run."""
    note(program.text)
    module = whorl.load(onnx.parser.parse_model(program.text))
    options = whorl.SessionOptions()
    options.backend = "interpreter"
    session = whorl.InferenceSession(module, options)
    return module, [session.run(None, feeds) for feeds in program.runs[:RUNS]]


def assert_equal(actual, required):
    for f, w in zip(actual, required, strict=True):
        assert (f.dtype, f.shape) == (w.dtype, w.shape)
        np.testing.assert_array_equal(f, w)


@drawn(120, 1)
@given(programs())
def test_openvino_gives_what_whorl_gives(engine: Engine, folder: Path, program: Program):
    module, required = expected(program)
    whorl.save(module, folder / "m.xml")
    feeds = [[feeds[value.name] for value in module.main.arguments] for feeds in program.runs[:RUNS]]
    actual = engine.run((folder / "m.xml").read_bytes(), (folder / "m.bin").read_bytes(), feeds)
    assert not isinstance(actual, str), actual
    for answer, outputs in zip(actual, required, strict=True):
        assert_equal(answer, outputs)


@drawn(30, 2)
@given(programs())
def test_whorl_and_onnxruntime_give_the_same_on_the_way_back(folder: Path, program: Program):
    ort = pytest.importorskip("onnxruntime", reason="onnxruntime has no wheel for this platform")
    module, required = expected(program)
    whorl.save(module, folder / "m.xml")
    again = whorl.load(folder / "m.xml")
    options = ort.SessionOptions()
    options.log_severity_level = 4
    session = ort.InferenceSession(to_proto(again).SerializeToString(), options)
    for feeds, outputs in zip(program.runs, required, strict=False):
        assert_equal(whorl.run(again, feeds).values(), outputs)
        assert_equal(session.run(None, feeds), outputs)
