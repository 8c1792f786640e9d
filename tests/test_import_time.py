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
SLOW = {"concurrent", "email", "json", "logging", "platform", "random", "shutil", "socket", "tempfile", "zipfile"}
"""Modules of the standard library that nothing on this path needs."""


@pytest.fixture(scope="module")
def stages(tmp_path_factory: pytest.TempPathFactory) -> list[set[str]]:
    """The modules that the import, the session and the run load over NumPy's, with the code on disk."""
    folder = tmp_path_factory.mktemp("start")
    path = folder / "model.onnx"
    onnx.save(onnx.parser.parse_model(MODEL), path)
    loaded_by(path, folder)
    return loaded_by(path, folder)


def loaded_by(path: Path, folder: Path) -> list[set[str]]:
    environment = {**os.environ, "WHORL_CACHE": str(folder / "code"), "WHORL_DEBUG": ""}
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


@pytest.mark.skipif(not is_supported(), reason="LLVM links on this system")
def test_session_and_run_load_no_package_that_they_can_do_without(stages: list[set[str]]) -> None:
    _, loaded, ran = stages
    assert packages(loaded | ran) == {"google", "ml_dtypes"}
    assert not {name.partition(".")[0] for name in loaded | ran} & SLOW
    assert not ran


def test_session_loads_the_format_and_the_ops_of_its_model(stages: list[set[str]]) -> None:
    loaded = set[str]().union(*stages)
    assert rooms(loaded, "whorl.formats") == {"onnx", "options", "registry"}
    assert rooms(loaded, "whorl.formats.onnx").isdisjoint({"saving", "writer", "values"})
    assert not rooms(loaded, "whorl.ops") & {"attention", "image", "ml", "recurrent", "signal", "text"}
    assert rooms(loaded, "whorl.passes.rules") == {"conditions", "pattern"}
    assert not rooms(loaded, "whorl") & {"backend", "cli", "conformance", "mdf"}
