"""The `onnx.backend` interface: `prepare`, `run_model`, `run_node`, `supports_device`, `is_compatible`."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Sequence
from typing import Any

import numpy as np
from onnx import ModelProto, NodeProto, TensorProto, helper
from onnx.backend.base import Backend, BackendRep

from whorl.api.session import InferenceSession
from whorl.errors import LoadError, RunError
from whorl.formats.onnx.dtypes import TO_ONNX
from whorl.formats.onnx.signatures import NEWEST
from whorl.formats.onnx.tensors import type_to
from whorl.ir.types import type_of


class WhorlBackendRep(BackendRep):
    """A prepared model."""

    def __init__(self, session: InferenceSession) -> None:
        self.session = session

    def run(self, inputs: Any, **options: Any) -> tuple[Any, ...]:
        """Outputs in the model's order, a named tuple where the names allow. `inputs`: values in order, or by name."""
        _refuse(options)
        arguments = [value.name for value in self.session.module.main.arguments]
        if isinstance(inputs, dict):
            feeds = inputs
        else:
            values = list(inputs) if isinstance(inputs, list | tuple) else [inputs]
            if len(values) > len(arguments):
                raise RunError(f"{len(values)} inputs are given, the model takes {len(arguments)}")
            feeds = dict(zip(arguments, values, strict=False))
        outputs = self.session.run(None, feeds)
        names = self.session.module.output_names
        return namedtuple("Outputs", names, rename=True)(*outputs) if names else tuple(outputs)


class WhorlBackend(Backend):
    """whorl as a backend of the onnx package's test suite and of scripts written for it."""

    @classmethod
    def is_compatible(cls, model: ModelProto, device: str = "CPU", **options: Any) -> bool:
        """Whether the model loads for the device."""
        try:
            return cls.supports_device(device) and cls.prepare(model, device, **options) is not None
        except LoadError:
            return False

    @classmethod
    def prepare(cls, model: ModelProto, device: str = "CPU", **options: Any) -> WhorlBackendRep:
        """Load a model for many runs. Errors: LoadError; RunError for a device other than the CPU, or an option."""
        _refuse(options)
        if not cls.supports_device(device):
            raise RunError(f"device {device!r} is not available", fix="use 'CPU'")
        return WhorlBackendRep(InferenceSession(model))

    @classmethod
    def run_model(cls, model: ModelProto, inputs: Any, device: str = "CPU", **options: Any) -> tuple[Any, ...]:
        """Load a model and run it once."""
        return cls.prepare(model, device, **options).run(inputs)

    @classmethod
    def run_node(
        cls,
        node: NodeProto,
        inputs: Any,
        device: str = "CPU",
        outputs_info: Sequence[tuple[np.dtype, tuple[int, ...]]] | None = None,
        **options: Any,
    ) -> tuple[Any, ...]:
        """Run one node on values for its inputs that are not blank, in order or by name; blank outputs are left out.

        It is read at the newest version of its domain, or at `opset_version`.
        """
        domain = "" if node.domain == "ai.onnx" else node.domain
        version = options.pop("opset_version", None) or NEWEST.get(domain, 1)
        _refuse(options)
        feeds = _named(node, inputs)
        infos = [helper.make_value_info(name, type_to(type_of(value))) for name, value in feeds.items()]
        outputs = [helper.make_value_info(name, _blank(k, outputs_info)) for k, name in enumerate(node.output) if name]
        graph = helper.make_graph([node], "node", infos, outputs)
        opsets = {"": NEWEST[""]} | {domain: version}
        imports = [helper.make_opsetid(name, number) for name, number in opsets.items()]
        return cls.prepare(helper.make_model(graph, opset_imports=imports), device).run(feeds)

    @classmethod
    def supports_device(cls, device: str) -> bool:
        """True for the CPU."""
        return device.partition(":")[0] == "CPU"


def _named(node: NodeProto, inputs: Any) -> dict[str, Any]:
    """The values of a node's inputs by name; a name that occurs twice has one value."""
    names = list(dict.fromkeys(name for name in node.input if name))
    values = [inputs[name] for name in names if name in inputs] if isinstance(inputs, dict) else list(inputs)
    if len(values) != len(names):
        raise RunError(f"{len(values)} values are given for the inputs {', '.join(names) or 'none'}")
    return {name: _value(value) for name, value in zip(names, values, strict=True)}


def _value(value: Any) -> Any:
    if value is None or isinstance(value, dict):
        return value
    if isinstance(value, list):
        return [_value(item) for item in value]
    array = np.asarray(value)
    return array.astype(object) if array.dtype.kind in "UST" else array


def _blank(index: int, info: Sequence[tuple[np.dtype, tuple[int, ...]]] | None) -> Any:
    """The declared type of an output: what the caller says, or nothing."""
    if info is None:
        return helper.make_tensor_type_proto(TensorProto.UNDEFINED, None)
    dtype, shape = info[index]
    return helper.make_tensor_type_proto(TO_ONNX[np.dtype(dtype)], shape)


def _refuse(options: dict[str, Any]) -> None:
    if options:
        raise RunError(f"unknown option {sorted(options)[0]!r}")


is_compatible = WhorlBackend.is_compatible
prepare = WhorlBackend.prepare
run_model = WhorlBackend.run_model
run_node = WhorlBackend.run_node
supports_device = WhorlBackend.supports_device
