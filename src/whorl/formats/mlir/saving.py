"""MLIR files out: a module as the function `main_graph` with its entry point."""

from __future__ import annotations

from pathlib import Path

from whorl.errors import SaveError
from whorl.formats.mlir.elements import print_dense
from whorl.formats.mlir.exporting import export_module
from whorl.formats.mlir.numbers import string_text
from whorl.formats.mlir.printer import FunctionPrinter, Locations, Signature, Style, print_module
from whorl.formats.mlir.syntax import Program
from whorl.formats.mlir.types import element_text
from whorl.formats.options import SaveOptions
from whorl.ir.constants import as_array
from whorl.ir.dims import Dim, Linear
from whorl.ir.graph import Module, Value
from whorl.ir.types import AnyShape, TensorType, Type

ENTRY = "main_graph"


def save(module: Module, path: Path, options: SaveOptions) -> None:
    """Write a module, as the registry of formats asks for it."""
    save_mlir(module, path)


def save_mlir(module: Module, path: Path) -> None:
    """Write a module as MLIR text. Errors: SaveError."""
    text = print_mlir(module)
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise SaveError(f"cannot write {str(path)!r}: {error.strerror or error}") from None


def print_mlir(module: Module) -> str:
    """A module as MLIR text with the onnx dialect. Errors: SaveError."""
    style = Style()
    named = _dim_names(module)
    arguments = [_argument_texts(value, module, named) for value in module.main.arguments]
    results = list(module.output_types().values())
    names = [_texts(name, type, named) for name, type in zip(module.output_names, results, strict=True)]
    signature = Signature(ENTRY, arguments, results, names)
    lines = FunctionPrinter(export_module(module, recipes=True), {}, style, Locations({}, style)).function(
        signature, "  "
    )
    return print_module(lines, Program("", "", entries=[ENTRY]), Locations({}, style))


def _argument_texts(value: Value, module: Module, named: set[str]) -> dict[str, str]:
    """The names of an input and of its dims, and its default."""
    texts = _texts(value.name, value.type, named)
    if value.name in module.defaults:
        default = module.defaults[value.name]
        if isinstance(default, list):
            raise SaveError(f"the default of {value.name!r} is a sequence", fix="MLIR has defaults that are tensors")
        array = as_array(default)
        shape = "".join(f"{dim}x" for dim in array.shape)
        texts["onnx.default"] = f"{print_dense(array)} : tensor<{shape}{element_text(array.dtype)}>"
    return texts


def _texts(name: str, type: Type, named: set[str]) -> dict[str, str]:
    """The name of an input or output, and those of its dims: `0:batch,2:length`."""
    texts = {"onnx.name": string_text(name)}
    if isinstance(type, TensorType) and not isinstance(type.shape, AnyShape):
        shown = [f"{axis}:{dim}" for axis, dim in enumerate(type.shape) if _bare_name(dim) in named]
        if shown:
            texts["onnx.dim_params"] = string_text(",".join(shown))
    return texts


def _dim_names(module: Module) -> set[str]:
    """The names that the file gives to dims of inputs and outputs, not those that inference makes up."""
    declared = [*((value.name, value.type) for value in module.main.arguments), *module.declared.items()]
    return {
        text
        for name, type in declared
        if isinstance(type, TensorType) and not isinstance(type.shape, AnyShape)
        for axis, dim in enumerate(type.shape)
        if (text := _bare_name(dim)) and text.partition("'")[0] != f"{name}.{axis}"
    }


def _bare_name(dim: Dim) -> str:
    """The name that a dim is, blank where it is a number or a form of names; a comma would end it in the text."""
    if not isinstance(dim, Linear) or dim.constant or len(dim.terms) != 1:
        return ""
    atom, factor = dim.terms[0]
    return atom if isinstance(atom, str) and factor == 1 and "," not in atom else ""
