"""The engines that the suite can run: each turns model bytes into a function from inputs to outputs."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np
from msgspec import Struct

from whorl.conformance.values import Value

Run = Callable[[Mapping[str, Value]], list[Value]]


class Backend(Struct, frozen=True):
    """An engine: `load` takes a model's bytes and gives a function that runs it. openvino also takes IR in one piece.

    NotImplementedError, or a message with one of the phrases in `missing`, means that the engine lacks something.
    """

    load: Callable[[bytes], Run]
    missing: tuple[str, ...] = ()

    def lacks(self, problem: Exception) -> bool:
        """Whether an exception of the engine says that it does not have something."""
        return isinstance(problem, NotImplementedError) or any(text in str(problem) for text in self.missing)


def load_backend(name: str) -> Backend:
    """A backend by name: one of BACKENDS, or `module:function` for an engine of one's own."""
    if name in BACKENDS:
        return BACKENDS[name]()
    module, colon, function = name.partition(":")
    if not colon:
        raise ValueError(f"no backend {name!r}; there are {', '.join(BACKENDS)} and module:function")
    return Backend(getattr(importlib.import_module(module), function))


def backend_version(name: str) -> str:
    """The installed version of a backend's package, or an empty string."""
    package = PACKAGES.get(name, name.partition(":")[0].partition(".")[0])
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def _whorl() -> Backend:
    whorl, errors = importlib.import_module("whorl"), importlib.import_module("whorl.errors")

    def load(model: bytes) -> Run:
        try:
            session = whorl.InferenceSession(model)
        except errors.UnsupportedError as problem:
            raise NotImplementedError(str(problem)) from problem
        return lambda inputs: session.run(None, dict(inputs))

    return Backend(load)


def _onnxruntime() -> Backend:
    engine = importlib.import_module("onnxruntime")
    engine.set_default_logger_severity(4)

    def load(model: bytes) -> Run:
        options = engine.SessionOptions()
        options.intra_op_num_threads = 1
        session = engine.InferenceSession(model, options, providers=["CPUExecutionProvider"])
        return lambda inputs: session.run(None, dict(inputs))

    phrases = "not currently registered or supported", "guarantees support for models", "Unsupported model IR version"
    return Backend(load, missing=("NOT_IMPLEMENTED", *phrases))


def _openvino() -> Backend:
    modules: dict[str, Any] = sys.modules
    modules["openvino_telemetry"] = None  # its usage reports fork the process, and the fork can hang
    engine = importlib.import_module("openvino")
    core = engine.Core()
    hints = {"EXECUTION_MODE_HINT": "ACCURACY", "INFERENCE_NUM_THREADS": 1}

    def load(model: bytes) -> Run:
        text, _, weights = model.partition(b"\0") if model.startswith(b"<") else (model, b"", b"")
        compiled = core.compile_model(core.read_model(text, weights or None), "CPU", hints)
        return lambda inputs: _run_openvino(engine, compiled, inputs)

    phrases = "No conversion rule found", "not supported", "doesn't support", "unsupported", "Unsupported"
    return Backend(load, missing=phrases)


def _run_openvino(engine: Any, compiled: Any, inputs: Mapping[str, Value]) -> list[Value]:
    request = compiled.create_infer_request()
    for k, port in enumerate(compiled.inputs):
        names = port.get_names() or [port.get_node().get_friendly_name()]
        value = next(value for name, value in inputs.items() if name in names)
        if not isinstance(value, np.ndarray):
            raise NotImplementedError("sequences and optionals are not supported as inputs")
        request.set_input_tensor(k, engine.Tensor(np.array(value, order="C")))
    request.infer()
    tensors = [request.get_output_tensor(k) for k in range(len(compiled.outputs))]
    return [t.str_data.astype(object) if t.element_type == engine.Type.string else np.array(t.data) for t in tensors]


def _reference() -> Backend:
    onnx, engine = importlib.import_module("onnx"), importlib.import_module("onnx.reference")

    def load(model: bytes) -> Run:
        evaluator = engine.ReferenceEvaluator(onnx.load_model_from_string(model))
        return lambda inputs: list(evaluator.run(None, dict(inputs)))

    return Backend(load, missing=("is not implemented",))


BACKENDS: dict[str, Callable[[], Backend]] = {
    "whorl": _whorl,
    "onnxruntime": _onnxruntime,
    "openvino": _openvino,
    "reference": _reference,
}
PACKAGES = {"reference": "onnx"}
