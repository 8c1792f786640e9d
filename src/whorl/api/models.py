"""Loading, saving and running models in any format."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, Unpack, overload, runtime_checkable

from msgspec.structs import replace

from whorl.formats.options import LoadKeywords, LoadOptions, SaveOptions
from whorl.formats.registry import format_of, format_to_write
from whorl.formats.sources import File, HasGraphs
from whorl.ir.graph import Module
from whorl.passes.context import Context
from whorl.runtime.session import Session

if TYPE_CHECKING:
    from onnx import GraphProto, ModelProto

    from whorl.formats.mdf.model import MdfModel


@runtime_checkable
class HasModule(Protocol):
    """A model that can be made a module: an `MdfModel`, whose package is imported for MDF files only."""

    def module(self) -> Module:
        """The model as a module."""
        ...


Source = File | Module | HasModule | HasGraphs
"""What `load` takes: a path, the bytes of a file, a proto of ONNX, a module, an `MdfModel`, or the objects of
modeci_mdf that one is made of."""


@overload
def load(
    source: Module | ModelProto | GraphProto, options: LoadOptions | None = None, **keywords: Unpack[LoadKeywords]
) -> Module: ...
@overload
def load(
    source: MdfModel | HasGraphs, options: LoadOptions | None = None, **keywords: Unpack[LoadKeywords]
) -> MdfModel: ...
@overload
def load(source: Source, options: LoadOptions | None = None, **keywords: Unpack[LoadKeywords]) -> Module | MdfModel: ...
def load(
    source: Source, options: LoadOptions | None = None, **keywords: Unpack[LoadKeywords]
) -> Module | MdfModel | HasModule:
    """Read a model: a `Module`, or for an MDF file an `MdfModel`, which simulates it and whose `module()` is one.

    Takes a path (`.onnx`, `.onnxtxt`, `.mlir`, OpenVINO's `.xml`, MDF's `.json`, `.yaml`, `.yml`, `.bson` and `.xml`),
    a file's bytes, a ModelProto or GraphProto, a `modeci_mdf.mdf.Model`, or a model as it is. The fields of
    `LoadOptions` may also be passed as keywords. Errors: LoadError, UnsupportedError.
    """
    return _read(source, options_of(options, keywords))


def options_of(options: LoadOptions | None, keywords: LoadKeywords) -> LoadOptions:
    """The options with what keywords override."""
    return replace(options or LoadOptions(), **keywords)


def load_module(source: Source, options: LoadOptions | None = None, folding: Context | None = None) -> Module:
    """Read a model as a module, an MDF model as one that runs it over time. Errors: LoadError, UnsupportedError."""
    model = _read(source, options or LoadOptions(), folding)
    return model if isinstance(model, Module) else model.module()


def _read(source: Source, options: LoadOptions, folding: Context | None = None) -> Module | MdfModel | HasModule:
    if isinstance(source, Module | HasModule):
        return source
    return format_of(source).load(source, options, folding)


def save(
    source: Source, path: str | os.PathLike[str], *, opset: int | None = None, compress_to_fp16: bool = False
) -> None:
    """Write whatever `load` takes, in the format that the ending of the path names.

    `.onnx`, `.onnxtxt`, `.mlir`, OpenVINO's `.xml` (with a `.bin` beside it), MDF's `.json`, `.yaml` or `.yml`.
    Weights over 1 GiB go into a file beside `.onnx`. `opset` is the version of ai.onnx to write; without it, the
    model's own or the lowest above that can express it. `compress_to_fp16` keeps float32 weights of `.xml` as float16.
    Errors: LoadError; SaveError names the op and the opset that could express it.
    """
    format = format_to_write(path)
    format.save(load(source), Path(path), SaveOptions(opset, compress_to_fp16))


def run(model: Source, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Load a model, run it once, and return its outputs by name. Errors: LoadError, RunError."""
    module = load_module(model)
    return dict(zip(module.visible_outputs, Session(module, once=True).execute(None, inputs), strict=True))
