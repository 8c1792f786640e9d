"""ONNX files out: weights inside the file, or beside it where they are large; never a half-written file."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import BinaryIO

import numpy as np
import onnx
from onnx import GraphProto, ModelProto, TensorProto

from whorl.errors import SaveError
from whorl.formats.onnx.tensors import proto_of, to_bytes
from whorl.formats.onnx.writer import write_model
from whorl.ir.constants import LazyArray, as_array
from whorl.ir.dtypes import STRING, bits
from whorl.ir.graph import Module

EXTERNAL_LIMIT = 1 << 30
"""Bytes of weights beyond which they go into a file of their own."""
SMALL = 1024
"""Bytes up to which a constant stays in the model file all the same."""
ALIGNMENT = 4096


def to_proto(module: Module, opset: int | None = None) -> ModelProto:
    """The module as a ModelProto with every constant inside. Errors: SaveError."""
    model, constants = write_model(module, opset)
    for tensor in _initializers(model.graph):
        tensor.CopyFrom(proto_of(as_array(constants[tensor.name]), tensor.name))
    return model


def save_onnx(module: Module, path: Path, opset: int | None = None) -> None:
    """Write `.onnx` or `.onnxtxt`. Weights over 1 GiB in all go into `<name>.data` beside an `.onnx` file."""
    model, constants = write_model(module, opset)
    external = path.suffix == ".onnx" and sum(map(_size, constants.values())) > EXTERNAL_LIMIT
    weights = path.with_name(path.name + ".data")
    try:
        if external:
            _write_whole(weights, lambda file: _write_weights(file, model, constants, weights.name))
        for tensor in _initializers(model.graph):
            if tensor.data_location != TensorProto.EXTERNAL:
                tensor.CopyFrom(proto_of(as_array(constants[tensor.name]), tensor.name))
        data = onnx.printer.to_text(model).encode() if path.suffix == ".onnxtxt" else model.SerializeToString()
        _write_whole(path, lambda file: file.write(data))
    except OSError as error:
        raise SaveError(f"cannot write {str(path)!r}: {error.strerror or error}") from None


def _write_whole(path: Path, write) -> None:
    """Write under a temporary name first, so that a failure leaves what was there."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with temporary.open("wb") as file:
            write(file)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def _write_weights(
    file: BinaryIO, model: ModelProto, constants: Mapping[str, np.ndarray | LazyArray], location: str
) -> None:
    """Append every constant of some size to the file, one after the other, and say in the model where each lies."""
    for tensor in _initializers(model.graph):
        value = constants[tensor.name]
        if value.dtype == STRING or _size(value) <= SMALL:
            continue
        file.seek(-file.tell() % ALIGNMENT, os.SEEK_CUR)
        offset = file.tell()
        array = as_array(value)
        if bits(array.dtype) >= 8 and array.flags.c_contiguous:
            file.write(array.reshape(-1).view(np.uint8).data)
        else:
            file.write(to_bytes(array))
        tensor.data_location = TensorProto.EXTERNAL
        entries = {"location": location, "offset": str(offset), "length": str(file.tell() - offset)}
        for key, text in entries.items():
            tensor.external_data.add(key=key, value=text)


def _size(value: np.ndarray | LazyArray) -> int:
    return (math.prod(value.shape) * bits(value.dtype) + 7) // 8


def _initializers(graph: GraphProto) -> Iterator[TensorProto]:
    """Every initializer of a graph and of the graphs inside."""
    stack = [graph]
    while stack:
        current = stack.pop()
        yield from current.initializer
        for node in current.node:
            for attribute in node.attribute:
                if attribute.HasField("g"):
                    stack.append(attribute.g)
