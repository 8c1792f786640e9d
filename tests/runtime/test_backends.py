"""Backends by name, and what they load."""

from __future__ import annotations

import subprocess
import sys

import pytest

from whorl.errors import RunError
from whorl.runtime.backends import BACKENDS, ONCE, choose_mode

INTERPRETED = """
import sys, numpy as np, onnx, whorl
graph = "main (float[2] x) => (float[2] y) { y = Neg(x) }"
model = onnx.parser.parse_model(f'<ir_version: 10, opset_import: ["": 21]> {graph}')
options = whorl.SessionOptions()
options.backend = "interpreter"
(y,) = whorl.InferenceSession(model, options).run(None, {"x": np.ones(2, np.float32)})
assert y.tolist() == [-1, -1]
print(*sys.modules)
"""
COMPILING = ("llvmlite", "whorl.kernel.", "whorl.lowering", "whorl.codegen", "whorl.runtime.compiled")


def test_mode_follows_the_name_then_the_environment_then_the_use(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("WHORL_BACKEND", raising=False)
    assert choose_mode(None, once=False) == BACKENDS["native"]
    assert choose_mode(None, once=True) == ONCE
    monkeypatch.setenv("WHORL_BACKEND", "auto")
    assert choose_mode(None, once=True) == BACKENDS["auto"]
    assert choose_mode("interpreter", once=True) == BACKENDS["interpreter"]
    assert choose_mode(ONCE, once=False) is ONCE


def test_unknown_backend_is_refused_with_the_known_ones() -> None:
    with pytest.raises(RunError) as caught:
        choose_mode("gpu", once=False)
    assert "there is no backend 'gpu'" in str(caught.value)
    assert "choose from native, auto, interpreter" in str(caught.value)


def test_interpreter_backend_loads_no_module_that_compiles() -> None:
    run = subprocess.run([sys.executable, "-c", INTERPRETED], check=True, capture_output=True, text=True)
    assert [name for name in run.stdout.split() if name.startswith(COMPILING)] == []
