"""Engines that run a model again and again, loaded once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest

import whorl

Run = Callable[[Mapping[str, Any]], list[Any]]


def whorl_run(module: Any, backend: str) -> Run:
    """Runs a model here."""
    options = whorl.SessionOptions()
    options.backend = backend
    session = whorl.InferenceSession(module, options)
    return lambda feeds: session.run(None, dict(feeds))


def onnxruntime_run(model: onnx.ModelProto) -> Run:
    """Runs a model in onnxruntime."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return lambda feeds: session.run(None, dict(feeds))


def openvino_run(model: onnx.ModelProto) -> Run:
    """Runs a model in OpenVINO on floats of 32 bits."""
    openvino = pytest.importorskip("openvino", reason="openvino has no wheel for this platform")
    core = openvino.Core()
    limits = {"INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": 1, "NUM_STREAMS": 1}
    compiled = core.compile_model(core.read_model(model.SerializeToString()), "CPU", limits)

    def run(feeds: Mapping[str, Any]) -> list[Any]:
        # A scalar has to be an array of its own: numpy's scalars are taken for numbers of another type.
        results = compiled({name: np.array(value) for name, value in feeds.items()})
        return [np.array(results[output]) for output in compiled.outputs]

    return run
