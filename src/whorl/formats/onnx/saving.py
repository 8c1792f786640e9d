"""ONNX files out: weights inside the file, or beside it where they are large; never a half-written file."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import BinaryIO

import numpy as np

from whorl.errors import SaveError
from whorl.formats.onnx.protos import GraphProto, ModelProto, TensorProto
from whorl.formats.onnx.tensors import proto_of
from whorl.formats.onnx.wire import pieces_of, placeholder
from whorl.formats.onnx.writer import write_model
from whorl.formats.options import SaveOptions
from whorl.formats.writing import element_bytes, require_room, write_whole
from whorl.ir.constants import LazyArray, as_array
from whorl.ir.dtypes import STRING
from whorl.ir.elements.packed import packed_size
from whorl.ir.graph import Module

EXTERNAL_LIMIT = 1 << 30
"""Bytes of weights beyond which they go into a file of their own."""
SMALL = 1024
"""Bytes up to which a constant stays in the model file all the same."""
STREAMED = 1 << 16
"""Bytes from which a constant is written block by block."""
ALIGNMENT = 4096

Values = Mapping[str, "np.ndarray | LazyArray"]
"""The constants of a model by the names of their initializers."""


def to_proto(module: Module, opset: int | None = None, is_verbatim: bool = False) -> ModelProto:
    """The module as a ModelProto with every constant inside, `is_verbatim` as `write_model` says. Errors: SaveError."""
    model, constants = write_model(module, opset, is_verbatim)
    for tensor in _initializers(model.graph):
        tensor.CopyFrom(proto_of(as_array(constants[tensor.name]), tensor.name))
    return model


def save(module: Module, path: Path, options: SaveOptions) -> None:
    """Write a module, as the registry of formats asks for it."""
    save_onnx(module, path, options.opset)


def save_onnx(module: Module, path: Path, opset: int | None = None) -> None:
    """Write `.onnx` or `.onnxtxt`. Weights over 1 GiB in all go into `<name>.data` beside an `.onnx` file.

    Large constants are computed and written block by block.
    """
    model, constants = write_model(module, opset)
    is_text = path.suffix == ".onnxtxt"
    total = sum(map(_size, constants.values()))
    external = not is_text and total > EXTERNAL_LIMIT
    weights = path.with_name(path.name + ".data")
    try:
        require_room(path.parent, total)
        if external:
            write_whole({weights: lambda file: _write_weights(file, model, constants, weights.name)})
        streamed = _fill_in(model, constants, 1 << 62 if is_text else STREAMED)
        if is_text:
            write_whole({path: lambda file: file.write(_text_of(model))})
        else:
            data = model.SerializeToString()
            write_whole({path: lambda file: _write_model(file, data, streamed)})
    except OSError as error:
        raise SaveError(f"cannot write {str(path)!r}: {error.strerror or error}") from None


def _text_of(model: ModelProto) -> bytes:
    from onnx import printer

    return printer.to_text(model).encode()


def _fill_in(model: ModelProto, constants: Values, limit: int) -> list[np.ndarray | LazyArray]:
    """Put the elements of every constant into the model, in the place of large ones a mark; returns those."""
    streamed: list[np.ndarray | LazyArray] = []
    for tensor in _initializers(model.graph):
        value = constants[tensor.name]
        if tensor.data_location == TensorProto.EXTERNAL:
            continue
        if value.dtype == STRING or _size(value) < limit:
            tensor.CopyFrom(proto_of(as_array(value), tensor.name))
        else:
            tensor.raw_data = placeholder(len(streamed))
            streamed.append(value)
    return streamed


def _write_model(file: BinaryIO, data: bytes, streamed: list[np.ndarray | LazyArray]) -> None:
    if not streamed:
        file.write(data)
        return
    for piece in pieces_of(data, lambda index: _size(streamed[index])):
        if isinstance(piece, bytes):
            file.write(piece)
        else:
            file.writelines(element_bytes(streamed[piece]))


def _write_weights(file: BinaryIO, model: ModelProto, constants: Values, location: str) -> None:
    """Append every constant of some size to the file, one after the other, and say in the model where each lies."""
    for tensor in _initializers(model.graph):
        value = constants[tensor.name]
        if value.dtype == STRING or _size(value) <= SMALL:
            continue
        file.seek(-file.tell() % ALIGNMENT, os.SEEK_CUR)
        offset = file.tell()
        file.writelines(element_bytes(value))
        tensor.data_location = TensorProto.EXTERNAL
        entries = {"location": location, "offset": str(offset), "length": str(file.tell() - offset)}
        for key, text in entries.items():
            tensor.external_data.add(key=key, value=text)


def _size(value: np.ndarray | LazyArray) -> int:
    return packed_size(value.dtype, tuple(value.shape))


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
