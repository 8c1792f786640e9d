"""The file formats: one record each, which says what there is to know of a format before a file needs it."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from msgspec import Struct

from whorl.errors import LoadError, SaveError
from whorl.formats.onnx.protos import GraphProto, ModelProto
from whorl.formats.options import LoadOptions, SaveOptions
from whorl.formats.sources import File, HasGraphs
from whorl.ir.collector import collector_paused
from whorl.ir.forking import import_whole
from whorl.ir.graph import Module
from whorl.passes.context import Context
from whorl.phases import Phase, phase

if TYPE_CHECKING:
    from whorl.formats.mdf.model import MdfModel

HEAD = 1 << 14
"""Bytes at the beginning of a file by which it is recognised."""
_MARKUP = re.compile(rb"<!--.*?-->|<[?!][^>]*>", re.DOTALL)
_ROOT = re.compile(rb"<(?:[\w.-]+:)?([\w.-]+)")


def _is_never(head: bytes) -> bool:
    return False


class Format(Struct, frozen=True):
    """A format: how its files are recognised, and the package that reads and writes them.

    The package is imported when a file needs it. Its module `codec` has `load(source, options, folding)`, its module
    `saving` has `save(model, path, options)`. `suffixes`: of files that it reads; `written`: of those that it also
    writes. `sniff`: whether a file begins so; it decides for bytes, and where formats share a suffix. `options`: the
    fields of `LoadOptions` and `SaveOptions` that it heeds. `simulates`: it loads an `MdfModel`, others a `Module`.
    `requires`: a third-party package, which `extra` installs.
    """

    name: str
    package: str
    suffixes: tuple[str, ...]
    written: tuple[str, ...]
    options: frozenset[str]
    sniff: Callable[[bytes], bool] = _is_never
    simulates: bool = False
    requires: str = ""
    extra: str = ""

    def load(self, source: File | HasGraphs, options: LoadOptions, folding: Context | None = None) -> Module | MdfModel:
        """Read a model. With `folding`, nodes of constants may be computed while it is read. Errors: LoadError."""
        codec = self.part("codec")
        with collector_paused(), phase(Phase.PARSE):
            return codec.load(source, options, folding)

    def save(self, model: Module | MdfModel, path: Path, options: SaveOptions) -> None:
        """Write a model. Errors: SaveError; UnsupportedError for an MDF model that cannot be a module."""
        writable = model if self.simulates or isinstance(model, Module) else model.module()
        self.part("saving").save(writable, path, options)

    def part(self, name: str) -> ModuleType:
        """A module of the package. Errors: LoadError where what the package requires is not installed."""
        try:
            return import_whole(f"{self.package}.{name}")
        except ModuleNotFoundError as missing:
            if not self.requires or (missing.name or "").partition(".")[0] != self.requires.lower():
                raise
            raise LoadError(f"{self.name} needs {self.requires}", fix=f"pip install 'whorl[{self.extra}]'") from None


def _is_mdf(head: bytes) -> bool:
    return _root_of(head) == b"model"


def _is_openvino(head: bytes) -> bool:
    return head.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"<") and not _is_mdf(head)


def _root_of(head: bytes) -> bytes:
    """The name of the root element at the beginning of XML, in small letters."""
    match = _ROOT.search(_MARKUP.sub(b"", head))
    return match[1].lower() if match else b""


ONNX = Format(
    "ONNX",
    "whorl.formats.onnx",
    suffixes=(".onnx", ".onnxtxt", ".onnxtext"),
    written=(".onnx", ".onnxtxt"),
    options=frozenset({"condition_when_omitted", "max_depth", "needs_weights", "memory_map", "opset"}),
)
MLIR = Format(
    "MLIR text",
    "whorl.formats.mlir",
    suffixes=(".mlir",),
    written=(".mlir",),
    options=frozenset({"condition_when_omitted", "max_depth"}),
    requires="xDSL",
    extra="mlir",
)
OPENVINO = Format(
    "OpenVINO IR",
    "whorl.formats.openvino",
    suffixes=(".xml",),
    written=(".xml",),
    options=frozenset({"max_depth", "compat", "weights", "compress_to_fp16"}),
    sniff=_is_openvino,
)
MDF = Format(
    "MDF",
    "whorl.formats.mdf",
    suffixes=(".json", ".yaml", ".yml", ".bson", ".xml"),
    written=(".json", ".yaml", ".yml"),
    options=frozenset({"precision", "integrator"}),
    sniff=_is_mdf,
    simulates=True,
)
FORMATS = ONNX, MLIR, OPENVINO, MDF
"""All formats; of those that share a suffix, the first one reads a file whose beginning none recognises."""


def format_of(source: object) -> Format:
    """The format of a path, bytes, proto or objects of MDF; ONNX where no other claims it. A file need not exist.

    Errors: LoadError.
    """
    match source:
        case str() | os.PathLike():
            path = Path(source)
            matches = [each for each in FORMATS if path.suffix.lower() in each.suffixes]
            if len(matches) > 1:
                head = _head_of(path)
                matches = [each for each in matches if each.sniff(head)] or matches
        case bytes() | bytearray() | memoryview():
            matches = [each for each in FORMATS if each.sniff(bytes(source[:HEAD]))]
        case ModelProto() | GraphProto():
            matches = [ONNX]
        case HasGraphs():
            matches = [MDF]
        case _:
            fix = "pass a path, bytes or a ModelProto"
            raise LoadError(f"no model can be read from {type(source).__name__}", fix=fix)
    return matches[0] if matches else ONNX


def format_to_write(path: str | os.PathLike[str]) -> Format:
    """The format that a file of this name is written in. Errors: SaveError."""
    suffix = Path(path).suffix.lower()
    match = next((each for each in FORMATS if suffix in each.written), None)
    if match is None:
        fix = f"end it in {listed([suffix for each in FORMATS for suffix in each.written])}"
        raise SaveError(f"{os.fspath(path)!r} has no ending whorl can write", fix=fix)
    return match


def listed(words: list[str]) -> str:
    """Words as a list in a sentence: `a, b or c`."""
    return " or ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def _head_of(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(HEAD)
    except OSError:
        return b""
