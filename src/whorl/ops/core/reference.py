"""The one door to the onnx package's reference kernels, for rare ops that need not be fast."""

from __future__ import annotations

import dataclasses
import functools
from typing import Any, ClassVar, TypeVar

import numpy as np

from whorl.ir.dtypes import NAMES
from whorl.ir.graph import Op

T = TypeVar("T")


@functools.lru_cache(maxsize=4096)
def _kernel(op: Op, inputs: tuple[bool, ...], outputs: int, version: int) -> Any:
    from onnx import helper
    from onnx.reference.ops._op_list import load_op

    attributes = {f.name: getattr(op, f.name) for f in dataclasses.fields(op)}  # type: ignore[arg-type]
    attributes.pop("output_count", None)
    names = [f"x{i}" if present else "" for i, present in enumerate(inputs)]
    present = {k: _attribute(v) for k, v in attributes.items() if v is not None}
    node = helper.make_node(op.name, names, [f"y{i}" for i in range(outputs)], domain=op.domain, **present)
    opsets = {op.domain: version, "": 28 if op.domain else version}
    return load_op(op.domain, op.name, version)(node, {"log": lambda *_: None, "opsets": opsets, "verbose": 0})


def _attribute(value: Any) -> Any:
    if isinstance(value, np.dtype):
        from onnx import helper

        return helper.np_dtype_to_tensor_dtype(value)
    return list(value) if isinstance(value, tuple) else value


class Referenced(Op, abstract=True):
    """An op whose `run` is the onnx package's reference kernel of a fixed version."""

    version: ClassVar[int]
    """The operator version whose reference kernel is meant."""
    outputs: ClassVar[int] = 1

    def run(self, *inputs: Any) -> Any:
        kernel = _kernel(self, tuple(x is not None for x in inputs), self.outputs, self.version)
        result = kernel.run(*(_protect(x) for x in inputs))
        return result[0] if len(result) == 1 else tuple(result)


def _protect(value: T) -> T:
    """The value read-only, since reference kernels write into some of their inputs."""
    if isinstance(value, np.ndarray) and value.dtype in NAMES and value.flags.writeable:
        value = value.view()
        value.flags.writeable = False
    return value
