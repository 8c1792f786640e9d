"""Recorded traces of modeci_mdf: compiled models give them, and so do the ONNX files that are written of them."""

import json
from pathlib import Path

import numpy as np
import pytest
from formats.mdf.test_corpus import KINDS, LAST_BITS, LEFT_TO_CHANCE, cases, decoded

import whorl
from whorl.formats.mdf.files import read_mdf
from whorl.formats.mdf.model import MdfModel


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "case" in metafunc.fixturenames:
        actual = [case for case in cases() if (case / "expected.npz").is_file()]
        skipped = [pytest.param(None, marks=pytest.mark.skip(reason="no corpus here; WHORL_CORPUS names it"))]
        metafunc.parametrize(
            "case", actual or skipped, ids=[getattr(path, "name", "none") for path in actual or [None]]
        )


class Recorded:
    """A case: the model, how it was run, and the numbers that were recorded, by the names of a simulation."""

    def __init__(self, case: Path) -> None:
        self.model = MdfModel(read_mdf(case / "model.json"), precision="float32")
        calls = json.loads((case / "meta.json").read_text())["calls"]
        self.steps, self.dt = sum(call["n"] for call in calls) - 1, calls[-1]["dt"]
        self.inputs: dict[str, np.ndarray] = {}
        for port, value in calls[0].get("init", {}).items():
            for node in self.model.graph.nodes.values():
                if port in node.input_ports:
                    self.inputs[f"{node.id}.{port}"] = np.asarray(decoded(value))[np.newaxis]
        self.traces: dict[str, np.ndarray] = {}
        with np.load(case / "expected.npz") as file:
            for key in file.files:
                node, kind, id = key.split("|")
                if file[key].dtype.kind in "biuf":
                    self.traces[f"{node}.{KINDS[kind]}.{id}"] = file[key].astype(float)


def check(case: Path, name: str, actual: np.ndarray, expected: np.ndarray) -> None:
    if case.name in LAST_BITS:
        np.testing.assert_allclose(actual, expected, rtol=1e-9, err_msg=name)
    else:
        np.testing.assert_array_equal(actual.astype(float), expected, err_msg=name)


def test_compiled_model_gives_the_trace(case):
    if case.name in LEFT_TO_CHANCE:
        pytest.skip(LEFT_TO_CHANCE[case.name])
    recorded = Recorded(case)
    assert recorded.model.explain() == "compiled"
    actual = recorded.model.simulate(recorded.steps, recorded.dt, record=list(recorded.traces), inputs=recorded.inputs)
    for name, expected in recorded.traces.items():
        check(case, name, actual[name], expected)


@pytest.mark.slow
def test_onnx_file_gives_the_trace(case, tmp_path):
    ort = pytest.importorskip("onnxruntime", reason="onnxruntime has no wheel for this platform")
    recorded = Recorded(case)
    if case.name in LEFT_TO_CHANCE:
        pytest.skip(LEFT_TO_CHANCE[case.name])
    if recorded.inputs:
        pytest.skip("an ONNX file has no inputs for the first evaluation alone, which this case gives")
    if not recorded.traces:
        pytest.skip("nothing that is a number was recorded, so the file would have no outputs")
    module = recorded.model.module(record=list(recorded.traces), has_dt=recorded.dt is not None)
    whorl.save(module, tmp_path / "model.onnx")
    session = ort.InferenceSession(str(tmp_path / "model.onnx"), providers=["CPUExecutionProvider"])
    feeds = {"steps": np.array(recorded.steps), "dt": np.array(recorded.dt or 0.0)}
    taken = {value.name for value in session.get_inputs()}
    rows = session.run(None, {name: value for name, value in feeds.items() if name in taken})
    for (name, expected), actual in zip(recorded.traces.items(), rows, strict=True):
        check(case, name, actual, expected)
