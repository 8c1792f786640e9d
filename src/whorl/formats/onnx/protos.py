"""ONNX's messages, as the classes of the onnx package, without the rest of that package.

`import onnx` also loads its schemas, checker, parser and converters, which takes longer than most models take to run.
Its module of messages needs only protobuf, so that file is run on its own, and `sys.modules` does not learn of it.
Protobuf has one class a message in a process, however often the file is run: `onnx.ModelProto` is this `ModelProto`,
whichever is imported first.
"""

from __future__ import annotations

import importlib.util
import sys
from importlib.machinery import PathFinder
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from onnx import AttributeProto as AttributeProto
    from onnx import FunctionProto as FunctionProto
    from onnx import GraphProto as GraphProto
    from onnx import ModelProto as ModelProto
    from onnx import NodeProto as NodeProto
    from onnx import OperatorSetIdProto as OperatorSetIdProto
    from onnx import SparseTensorProto as SparseTensorProto
    from onnx import TensorProto as TensorProto
    from onnx import TensorShapeProto as TensorShapeProto
    from onnx import TypeProto as TypeProto
    from onnx import ValueInfoProto as ValueInfoProto

__all__ = [
    "AttributeProto",
    "FunctionProto",
    "GraphProto",
    "ModelProto",
    "NodeProto",
    "OperatorSetIdProto",
    "SparseTensorProto",
    "TensorProto",
    "TensorShapeProto",
    "TypeProto",
    "ValueInfoProto",
]
_MESSAGES = "onnx.onnx_ml_pb2"


def messages() -> ModuleType:
    """The module of messages: that of the package where it is loaded already, else another one of the same file."""
    if _MESSAGES in sys.modules:
        return sys.modules[_MESSAGES]
    package = importlib.util.find_spec("onnx")
    locations = None if package is None else package.submodule_search_locations
    spec = PathFinder.find_spec(_MESSAGES, locations)
    if spec is None or spec.loader is None:
        raise ModuleNotFoundError("whorl reads ONNX by the package onnx, which is not installed", name="onnx")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


if not TYPE_CHECKING:
    globals().update({name: getattr(messages(), name) for name in __all__})
