"""What `import whorl`, a session on an ONNX model and its first run load; `bench/start.py` measures what they cost."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import onnx
import pytest

from whorl.codegen.memory import is_supported

MODEL = """
<ir_version: 10, opset_import: ["" : 21]>
perceptron (float[n, 4] x) => (float[n, 3] y) {
  w = Constant <value = float[4, 3] {1, -1, 0.5, 2, 0.25, -0.5, 1, 1, -2, 0.5, -1, 1}> ()
  b = Constant <value = float[3] {0.1, 0.2, 0.3}> ()
  product = MatMul (x, w)
  sum = Add (product, b)
  open = Relu (sum)
  part = Softmax <axis = -1> (open)
  y = Mul (part, sum)
}
"""
PROGRAM = """
import json, sys
import numpy as np
stages = []
def note():
    stages.append([name for name in sys.modules if name not in known])
    known.update(sys.modules)
known = set(sys.modules)
import whorl
note()
session = whorl.InferenceSession(sys.argv[1])
note()
session.run(None, {"x": np.ones((2, 4), np.float32)})
note()
print(json.dumps(stages))
"""
SLOW = {
    *("concurrent", "difflib", "email", "json", "logging", "platform", "random", "shutil", "socket", "subprocess"),
    *("tempfile", "zipfile"),
}
"""Modules of the standard library that nothing on this path needs."""


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model with a folder of its own, where the code of its programs will be."""
    path = tmp_path_factory.mktemp("start") / "model.onnx"
    onnx.save(onnx.parser.parse_model(MODEL), path)
    return path


@pytest.fixture(scope="module")
def first(model: Path) -> list[set[str]]:
    """The modules that the import, the session and the run load over NumPy's, with no code on disk."""
    return loaded_by(model)


@pytest.fixture(scope="module")
def stages(model: Path, first: list[set[str]]) -> list[set[str]]:
    """The modules that each stage loads in a second process."""
    assert first
    return loaded_by(model)


def loaded_by(path: Path) -> list[set[str]]:
    environment = {**os.environ, "WHORL_CACHE": str(path.parent / "code"), "WHORL_DEBUG": ""}
    command = [sys.executable, "-c", PROGRAM, str(path)]
    printed = subprocess.run(command, check=True, env=environment, capture_output=True, text=True).stdout
    return [set(stage) for stage in json.loads(printed)]


def packages(modules: set[str]) -> set[str]:
    """The top-level packages of modules that belong neither to Python nor to whorl."""
    return {name.partition(".")[0] for name in modules} - {*sys.stdlib_module_names, "whorl"}


def rooms(modules: set[str], package: str) -> set[str]:
    """The names right below a package."""
    prefix = f"{package}."
    return {name.removeprefix(prefix).partition(".")[0] for name in modules if name.startswith(prefix)}


def test_import_loads_nothing_that_a_name_does_not_need(stages: list[set[str]]) -> None:
    imported = stages[0]
    assert {name for name in imported if name.startswith("whorl")} == {
        "whorl",
        "whorl.ir",
        "whorl.ir.collector",
        "whorl.ir.forking",
        "whorl.phases",
    }
    assert packages(imported) <= {"msgspec", "typing_extensions"}


def test_first_session_loads_the_format_and_the_ops_of_its_model(first: list[set[str]]) -> None:
    loaded = set[str]().union(*first)
    assert rooms(loaded, "whorl.formats") == {"onnx", "options", "registry", "sources"}
    assert rooms(loaded, "whorl.formats.onnx").isdisjoint({"saving", "writer", "values"})
    assert not rooms(loaded, "whorl.ops") & {"attention", "image", "ml", "recurrent", "signal", "text"}
    assert rooms(loaded, "whorl.passes.rules") == {"conditions", "pattern"}
    assert not rooms(loaded, "whorl") & {"backend", "cli", "conformance", "mdf"}
    assert packages(first[1] | first[2]) == {"google", "llvmlite", "ml_dtypes"}


@pytest.mark.skipif(
    not is_supported(), reason="the linker of this package is for other systems: LLVM links on this one"
)
def test_first_run_loads_no_routines_of_convolutions_for_a_model_without_any(first: list[set[str]]) -> None:
    loaded = set[str]().union(*first)
    assert "whorl.kernels.product.llvm" in loaded
    assert loaded.isdisjoint(f"whorl.kernels.{kernel}.llvm" for kernel in ("convolution", "plane"))


def test_second_process_loads_what_runs_its_program_alone(stages: list[set[str]]) -> None:
    imported, loaded, ran = stages
    assert packages(loaded | ran) == {"ml_dtypes"}
    assert not {name.partition(".")[0] for name in loaded | ran} & SLOW
    everything = imported | loaded | ran
    assert not rooms(everything, "whorl") & {"backend", "cli", "conformance", "mdf", "ops", "passes"}
    assert rooms(everything, "whorl.formats") == {"onnx", "options"}
    assert rooms(everything, "whorl.formats.onnx") == {"wire"}
    assert rooms(everything, "whorl.lowering") == {"arena", "graph_program", "work"}
    assert rooms(everything, "whorl.kernel") == {"program"}
    assert not rooms(everything, "whorl.runtime") & {"interpreter", "whole"}
