"""An engine for `whorl.conformance.worker`: ONNX models written by whorl as IR, run by OpenVINO."""

import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

import whorl
from whorl.formats.openvino.element_types import attribute_name, element_type
from whorl.formats.writing import element_bytes
from whorl.ir.dtypes import STRING, bits
from whorl.ir.elements.packed import packed_size, unpacked

modules: dict[str, Any] = sys.modules
modules["openvino_telemetry"] = None  # its usage reports fork the process, and the fork can hang
import openvino as ov  # noqa: E402

CORE = ov.Core()
HINTS = {"EXECUTION_MODE_HINT": "ACCURACY", "INFERENCE_NUM_THREADS": 1}
Run = Callable[[Mapping[str, Any]], list]


def load(model: bytes) -> Run:
    """What runs an ONNX model by way of IR."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.xml"
        whorl.save(whorl.load(model), path)
        return load_ir(path)


def load_ir(path: Path) -> Run:
    """What runs an IR file."""
    return compiled(CORE.read_model(path))


def load_onnx(model: bytes) -> Run:
    """What runs an ONNX model by OpenVINO's own conversion."""
    return compiled(CORE.read_model(model))


def compiled(read: ov.Model) -> Run:
    ready = CORE.compile_model(read, "CPU", HINTS)

    def run(inputs: Mapping[str, Any]) -> list:
        request = ready.create_infer_request()
        stored = [tensor_of(next(v for n, v in inputs.items() if n in port.get_names())) for port in ready.inputs]
        for k, tensor in enumerate(stored):
            request.set_input_tensor(k, tensor)
        request.infer()
        return [array_of(request.get_output_tensor(k)) for k in range(len(ready.outputs))]

    return run


def tensor_of(value: Any) -> ov.Tensor:
    if not isinstance(value, np.ndarray):
        raise NotImplementedError("sequences and optionals are not supported as inputs")
    if value.dtype == STRING:
        flat = [str(text).encode() for text in value.reshape(-1)]
        return ov.Tensor(np.array(flat, dtype=bytes).reshape(value.shape))
    name = attribute_name(value.dtype)
    if value.dtype.isbuiltin == 1:
        return ov.Tensor(np.array(value, order="C"))
    data = b"".join(bytes(piece) for piece in element_bytes(value))
    return ov.Tensor(np.frombuffer(data, np.uint8), ov.Shape(value.shape), getattr(ov.Type, name))


def array_of(tensor: ov.Tensor) -> np.ndarray:
    shape = tuple(tensor.shape)
    if tensor.element_type == ov.Type.string:
        return tensor.str_data.astype(object)
    dtype = element_type(tensor.element_type.get_type_name(), "an output")
    if dtype.isbuiltin == 1:
        return np.array(tensor.data)
    data = np.frombuffer(np.ascontiguousarray(tensor.data).tobytes(), np.uint8)
    if bits(dtype) < 8:
        return unpacked(data[: packed_size(dtype, shape)], dtype, 0, int(np.prod(shape))).reshape(shape)
    return data.view(dtype).reshape(shape)
