"""Models as ONNX text, written as IR and run by OpenVINO."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
from formats.openvino.engine import Engine

import whorl
from whorl.ir.graph import Module

HEADER = '<ir_version: 8, opset_import: ["" : 17]>\n'


def module_of(text: str) -> Module:
    """A model of opset 17 from its text."""
    return whorl.load(onnx.parser.parse_model(HEADER + text))


def number(value: int) -> np.ndarray:
    """A scalar int64."""
    return np.array(value, np.int64)


def rows(*shape: int) -> np.ndarray:
    """The numbers 0, 1, 2 ... in a shape."""
    return np.arange(np.prod(shape), dtype=np.float32).reshape(shape)


def agree(engine: Engine, text: str, path: Path, runs: list[dict[str, np.ndarray]]) -> None:
    """One compiled model gives for all inputs, one after the other, what whorl gives."""
    module = module_of(text)
    whorl.save(module, path)
    names = [value.name for value in module.main.arguments]
    feeds = [[run[name] for name in names] for run in runs]
    answers = engine.run(path.read_bytes(), path.with_suffix(".bin").read_bytes(), feeds)
    assert not isinstance(answers, str), answers
    options = whorl.SessionOptions()
    options.backend = "interpreter"
    session = whorl.InferenceSession(module, options)
    for run, answer in zip(runs, answers, strict=True):
        for expected, actual in zip(session.run(None, run), answer, strict=True):
            assert (actual.dtype, actual.shape) == (expected.dtype, expected.shape)
            np.testing.assert_array_equal(actual, expected)
