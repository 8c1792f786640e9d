"""Models of one OpenVINO layer: built by OpenVINO, read and run by whorl, and compared with OpenVINO's own results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import openvino
from evaluation import evaluate, module_of, shaped
from formats.openvino.through_ir import CORE, array_of, tensor_of
from openvino import opset1
from openvino.op import Constant
from openvino.utils.node_factory import NodeFactory

from whorl.api.differences import difference
from whorl.formats.openvino.files import load_ir
from whorl.formats.openvino.reading.context import IrOptions
from whorl.formats.openvino.saving import save_openvino
from whorl.ir.dims import Linear
from whorl.ir.graph import Module, Op
from whorl.runtime.session import Session

Array = np.ndarray
EXACT = {"INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": 1}
_FACTORIES: dict[str, NodeFactory] = {}


@dataclass(frozen=True)
class Fixed:
    """An input that is a Const layer."""

    value: Array


Input = Array | Fixed


def fixed(*elements: Any, dtype: Any = np.int64) -> Fixed:
    """A Const of rank 1."""
    return Fixed(np.array(elements, dtype))


def scalar(element: Any, dtype: Any = np.int64) -> Fixed:
    """A Const of rank 0."""
    return Fixed(np.array(element, dtype))


def layer_model(
    type: str, version: int, inputs: Sequence[Input], attributes: Mapping[str, Any] | None = None, dynamic: bool = False
) -> openvino.Model:
    """A model of one layer; Parameters have the arrays' shapes.

    With `dynamic` they have ranks only, unless they are short lists of integers.
    """
    factory = _FACTORIES.setdefault(f"opset{version}", NodeFactory(f"opset{version}"))
    nodes, parameters = [], []
    for value in inputs:
        if isinstance(value, Fixed):
            nodes.append(Constant(openvino.Tensor(np.array(value.value, order="C"))))
            continue
        shape = openvino.PartialShape([-1] * value.ndim if dynamic and not _is_list(value) else list(value.shape))
        parameters.append(opset1.parameter(shape, openvino.Type(value.dtype)))
        nodes.append(parameters[-1])
    layer = factory.create(type, [node.output(0) for node in nodes], dict(attributes or {}))
    make: Any = openvino.Model
    return make([layer.output(k) for k in range(layer.get_output_size())], parameters)


def arrays_of(inputs: Sequence[Input]) -> list[Array]:
    """The inputs that are no Const."""
    return [value for value in inputs if not isinstance(value, Fixed)]


def openvino_run(model: openvino.Model | Path, arrays: Sequence[Array]) -> list[Array]:
    """What OpenVINO's CPU plugin computes, in the precision of the model."""
    read = CORE.read_model(model) if isinstance(model, Path) else model
    request = CORE.compile_model(read, "CPU", EXACT).create_infer_request()
    stored = [tensor_of(value) for value in arrays]
    for k, tensor in enumerate(stored):
        request.set_input_tensor(k, tensor)
    request.infer()
    return [array_of(request.get_output_tensor(k)) for k in range(len(read.outputs))]


def read(model: openvino.Model, profile: str = "") -> Module:
    """The model through a file, read by whorl."""
    with TemporaryDirectory() as folder:
        path = Path(folder, "model.xml")
        openvino.serialize(model, str(path))
        return load_ir(path.read_bytes(), IrOptions(profile), path.with_suffix(".bin").read_bytes())


def written(module: Module, folder: Path) -> Path:
    """The module as an IR file."""
    path = folder / "model.xml"
    save_openvino(module, path)
    return path


def whorl_run(module: Module, arrays: Sequence[Array]) -> list[Array]:
    """What the interpreter computes."""
    names = [value.name for value in module.main.arguments]
    return Session(module, backend="interpreter").execute(None, dict(zip(names, arrays, strict=True)))


def check_layer(
    type: str,
    version: int,
    inputs: Sequence[Input],
    attributes: Mapping[str, Any] | None = None,
    *,
    expected: Sequence[Array] | None = None,
    dynamic: Sequence[bool] = (False, True),
    rtol: float = 1e-5,
    atol: float = 1e-6,
) -> None:
    """Assert that whorl computes what OpenVINO does (or `expected`), with shapes fixed and with ranks only."""
    passed = arrays_of(inputs)
    for ranks_only in dynamic:
        model = layer_model(type, version, inputs, attributes, ranks_only)
        required = openvino_run(model, passed) if expected is None else list(expected)
        actual = whorl_run(read(model), passed)
        assert not (text := difference(required, actual, rtol, atol)), f"ranks only: {ranks_only}; {text}"


def check_node(
    op: Op,
    inputs: Sequence[Array | None],
    constants: Sequence[int] = (),
    *,
    outputs: int = 1,
    dynamic: Sequence[bool] = (False, True),
    rtol: float = 1e-5,
    atol: float = 1e-6,
) -> None:
    """Assert that OpenVINO computes what a hub op means, with shapes fixed and with ranks only.

    Inputs at `constants` are constants of the program.
    """
    results = evaluate(op, *inputs)
    required = [np.asarray(each) for each in (results if isinstance(results, tuple) else (results,))][:outputs]
    passed = [value for k, value in enumerate(inputs) if value is not None and k not in constants]
    for ranks_only in dynamic:
        shown = [
            shaped(*_names(value, k), dtype=value.dtype)
            if value is not None and k not in constants and ranks_only and not _is_list(value)
            else value
            for k, value in enumerate(inputs)
        ]
        with TemporaryDirectory() as folder:
            actual = openvino_run(written(module_of(op, shown, constants, outputs), Path(folder)), passed)
        assert not (text := difference(required, actual, rtol, atol)), f"ranks only: {ranks_only}; {text}"


def _is_list(value: Array) -> bool:
    """Whether it may say a shape or list axes, so that its length is a rank."""
    return value.ndim == 1 and value.dtype.kind == "i" and value.size < 7


def _names(value: Array, index: int) -> list[Linear]:
    """A name for each length."""
    return [Linear(((f"d{index}_{axis}", 1),)) for axis in range(value.ndim)]
