"""Loading, saving and running models in any format."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, Protocol, TypeGuard, runtime_checkable

from whorl.errors import LoadError, SaveError
from whorl.formats.onnx.files import OnnxSource, bytes_in_one, load_onnx
from whorl.formats.onnx.frame import MAX_DEPTH, LoadOptions
from whorl.formats.onnx.saving import save_onnx, to_proto
from whorl.ir.forking import import_whole
from whorl.ir.graph import Module
from whorl.runtime.session import Session

if TYPE_CHECKING:
    from whorl.formats.mdf.model import MdfModel


@runtime_checkable
class HasModule(Protocol):
    """A model that can say itself as a module: an `MdfModel`."""

    def module(self) -> Module: ...


Source = OnnxSource | Module | HasModule
"""What `load` takes: a path, bytes, a proto, or a module."""


MLIR_SUFFIX, IR_SUFFIX = ".mlir", ".xml"
MDF_SUFFIXES = ".json", ".yaml", ".yml", ".bson"
_ROOT = re.compile(rb"<(?:[\w.-]+:)?([\w.-]+)")


def is_mlir(source: Source) -> bool:
    """Whether a source is the path of MLIR text."""
    return isinstance(source, str | os.PathLike) and Path(source).suffix == MLIR_SUFFIX


def is_ir(source: Source) -> bool:
    """Whether a source is the path of OpenVINO IR, or the bytes of its XML."""
    if isinstance(source, bytes | bytearray | memoryview):
        return bytes(source[:64]).removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"<")
    is_xml = isinstance(source, str | os.PathLike) and Path(source).suffix == IR_SUFFIX
    return is_xml and not is_mdf(source)


def is_mdf(source: object) -> TypeGuard[str | os.PathLike[str]]:
    """Whether a source is the path of an MDF model; an .xml is one if its root element is a Model."""
    if not isinstance(source, str | os.PathLike):
        return False
    suffix = Path(source).suffix.lower()
    return suffix in MDF_SUFFIXES or (suffix == IR_SUFFIX and _root_of(Path(source)) == b"model")


def _root_of(path: Path) -> bytes:
    """The name of the root element at the beginning of an XML file, in small letters."""
    try:
        with path.open("rb") as file:
            found = _ROOT.search(re.sub(rb"<!--.*?-->|<[?!][^>]*>", b"", file.read(1 << 14), flags=re.DOTALL))
    except OSError:
        return b""
    return found[1].lower() if found else b""


def onnx_bytes(path: str | os.PathLike[str]) -> bytes:
    """A model file as one piece of ONNX, for engines that take bytes. Errors: LoadError, SaveError."""
    is_onnx = not is_mlir(path) and not is_ir(path) and not is_mdf(path)
    return bytes_in_one(path) if is_onnx else to_proto(load_module(path)).SerializeToString()


def ir_bytes(path: str | os.PathLike[str]) -> bytes:
    """An `.xml` and its `.bin` in one piece: the text, a zero byte, the weights. Errors: LoadError."""
    weights = Path(path).with_suffix(".bin")
    try:
        return Path(path).read_bytes() + b"\0" + (weights.read_bytes() if weights.is_file() else b"")
    except OSError as error:
        raise LoadError(f"cannot read {str(path)!r}: {error.strerror or error}") from None


def mlir_part(name: str) -> ModuleType:
    """A module of `formats.mlir`. Errors: LoadError where xDSL, which it needs, is not installed."""
    try:
        return import_whole(f"whorl.formats.mlir.{name}")
    except ModuleNotFoundError as missing:
        if missing.name is None or missing.name.partition(".")[0] != "xdsl":
            raise
        raise LoadError("MLIR text needs xDSL", fix="pip install 'whorl[mlir]'") from None


def load(
    source: Source,
    *,
    condition_when_omitted: str = "specification",
    max_depth: int = MAX_DEPTH,
    compat: str = "",
    weights: str | os.PathLike[str] | bytes | None = None,
) -> Any:
    """Read a model: a `Module`, or for an MDF file an `MdfModel`, which simulates it and whose `module()` is one.

    Takes a path (`.onnx`, `.onnxtxt`, `.mlir`, OpenVINO's `.xml`, MDF's `.json`, `.yaml`, `.yml`, `.bson` and `.xml`),
    a file's bytes, a ModelProto or GraphProto, or a module. The options are those of `load_module`.
    Errors: LoadError, UnsupportedError.
    """
    if isinstance(source, HasModule):
        return source
    if is_mdf(source):
        return load_mdf(source)
    return load_module(
        source,
        condition_when_omitted=condition_when_omitted,
        max_depth=max_depth,
        compat=compat,
        weights=weights,
    )


def load_mdf(source: str | os.PathLike[str], precision: str = "float64") -> MdfModel:
    """The model in an MDF file, whose functions of ONNX compute in "float64" or "float32". Errors: LoadError."""
    files, models = (import_whole(f"whorl.formats.mdf.{name}") for name in ("files", "model"))
    return models.MdfModel(files.read_mdf(source), precision=precision)


def load_module(
    source: Source,
    *,
    condition_when_omitted: str = "specification",
    max_depth: int = MAX_DEPTH,
    compat: str = "",
    weights: str | os.PathLike[str] | bytes | None = None,
    needs_weights: bool = True,
) -> Module:
    """Read a model as a module, an MDF model as one that runs it over time.

    `condition_when_omitted` says what a Loop without a condition input does with the condition its body computes:
    "specification" ignores it, "honour" stops as onnxruntime does. `max_depth` bounds the nesting of graphs. For IR,
    `compat` "openvino-cpu" imitates OpenVINO's CPU plugin, and `weights` are the bytes of the `.bin`, or where they lie
    if not beside the `.xml`. `needs_weights`: ONNX weights whose file beside the model is missing are an error at once,
    not only where they are read.
    Errors: LoadError, UnsupportedError.
    """
    if isinstance(source, Module):
        return source
    if is_mdf(source):
        source = load_mdf(source)
    if isinstance(source, HasModule):
        return source.module()
    if not isinstance(source, OnnxSource):
        raise LoadError(f"no model can be read from {type(source).__name__}", fix="pass a path, bytes or a ModelProto")
    if not isinstance(max_depth, int) or max_depth < 1:
        raise LoadError(f"max_depth is {max_depth!r}, expected a whole number of 1 or more")
    options = LoadOptions(condition_when_omitted, max_depth, needs_weights=needs_weights)
    if is_ir(source):
        files = import_whole("whorl.formats.openvino.files")
        return files.load_ir(source, files.IrOptions(compat, max_depth), weights)
    if is_mlir(source):
        return mlir_part("reader").load_mlir(source, options)
    return load_onnx(source, options)


def save(
    source: Source, path: str | os.PathLike[str], *, opset: int | None = None, compress_to_fp16: bool = False
) -> None:
    """Write whatever `load` takes as `.onnx`, `.onnxtxt`, `.mlir`, OpenVINO `.xml` (with a `.bin` beside it), or
    MDF's `.json`, `.yaml` or `.yml`.

    Weights over 1 GiB go into a file beside `.onnx`. `opset` is the version of ai.onnx to write; without it, the
    model's own or the lowest above that can say it all. `compress_to_fp16` keeps float32 weights of `.xml` as float16.
    Errors: LoadError; SaveError names the op and the opset that could say it.
    """
    match Path(path).suffix:
        case ".mlir":
            mlir_part("saving").save_mlir(load_module(source), Path(path))
        case ".xml":
            saving = import_whole("whorl.formats.openvino.saving")
            saving.save_openvino(load_module(source), Path(path), compress=compress_to_fp16)
        case ".onnx" | ".onnxtxt":
            save_onnx(load_module(source), Path(path), opset)
        case ".json" | ".yaml" | ".yml":
            _save_mdf(source, Path(path))
        case _:
            fix = "end it in .onnx, .onnxtxt, .mlir, .xml, .json or .yaml"
            raise SaveError(f"{str(path)!r} has no ending whorl can write", fix=fix)


def _save_mdf(source: Source, path: Path) -> None:
    """An MDF model as it is, any other one with a node for each operator."""
    files, models, imports = (import_whole(f"whorl.formats.mdf.{name}") for name in ("files", "model", "onnx.importer"))
    model = load(source)
    document = model.document if isinstance(model, models.MdfModel) else imports.model_from_onnx(to_proto(model))
    files.write_mdf(document, path)


def run(model: Source, feeds: Mapping[str, Any]) -> dict[str, Any]:
    """Load a model, run it once, and return its outputs by name. Errors: LoadError, RunError."""
    module = load_module(model)
    return dict(zip(module.visible_outputs, Session(module, once=True).execute(None, feeds), strict=True))
