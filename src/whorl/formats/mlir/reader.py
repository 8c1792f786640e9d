"""MLIR files in: a module for each function, with what the text says of its values."""

from __future__ import annotations

import os
import re
from pathlib import Path

from msgspec import Struct, field

import whorl.formats.onnx.control
from whorl.errors import LoadError, WhorlError
from whorl.formats.mlir.parser import parse_program
from whorl.formats.mlir.protos import Note, convert_function, with_dim_names
from whorl.formats.mlir.syntax import Function, Program
from whorl.formats.onnx.reader import read_model
from whorl.formats.options import LoadOptions
from whorl.ir.graph import Module
from whorl.ir.types import Type

assert whorl.formats.onnx.control


class ReadFunction(Struct):
    """A function as a module, and how the text had it."""

    name: str
    module: Module
    notes: dict[str, Note] = field(default_factory=dict)
    results: list[Type | None] = field(default_factory=list)
    result_texts: list[dict[str, str]] = field(default_factory=list)
    texts: dict[str, str] = field(default_factory=dict)
    terminator: str = "onnx.Return"
    location: str = ""


def load_mlir(path: str | os.PathLike[str], options: LoadOptions) -> Module:
    """The module of a file's entry point, or of its only function. Errors: LoadError, UnsupportedError."""
    program = parse_program(read_text(path), Path(path).name)
    function = _entry(program)
    read = read_function(program, function, options)
    read.module.metadata = {"graph_name": read.name, "producer_name": ""}
    return read.module


def read_text(path: str | os.PathLike[str]) -> str:
    """The text of a file. Errors: LoadError."""
    try:
        return Path(path).read_text(encoding="utf-8")
    except OSError as error:
        raise LoadError(f"cannot read {str(path)!r}: {error.strerror or error}") from None
    except UnicodeDecodeError as error:
        raise LoadError(f"{str(path)!r} is not UTF-8: {error}") from None


def _entry(program: Program) -> Function:
    functions = {function.name: function for function in program.functions if function.block is not None}
    for name in program.entries:
        if name not in functions:
            raise LoadError(f"the entry point @{name} is no function of {program.name}")
    named = [functions[name] for name in program.entries] or list(functions.values())
    if len(named) == 1:
        return named[0]
    if "main_graph" in functions:
        return functions["main_graph"]
    raise LoadError(
        f"{program.name} has {len(functions)} functions and {len(program.entries) or 'no'} entry points",
        fix='name one: "onnx.EntryPoint"() {func = @main_graph} : () -> ()',
    )


def read_function(program: Program, function: Function, options: LoadOptions) -> ReadFunction:
    """One function of a program. Errors: LoadError, UnsupportedError, with the place in the text."""
    converted = convert_function(program, function)
    declared = {name: note.type for name, note in converted.notes.items() if note.type is not None}
    try:
        module = read_model(converted.model, options, declared=declared)
    except WhorlError as error:
        raise _at_location(error, program, function, converted.positions) from None
    pairs = zip(function.results, function.result_attributes, strict=True)
    types = [with_dim_names(type, texts.get("onnx.dim_params")) for type, texts in pairs if type is not None]
    module.output_names = converted.result_names
    module.declared = dict(zip(converted.result_names, types, strict=True))
    return ReadFunction(
        function.name,
        module,
        converted.notes,
        function.results,
        function.result_texts,
        function.texts,
        converted.terminator,
        function.location,
    )


def _at_location(error: WhorlError, program: Program, function: Function, positions: dict[str, int]) -> WhorlError:
    """The error with the line and column of the operation it names, or of the function."""
    named = (positions[name] for name in re.findall(r"'([^']*)'", error.where) if name in positions)
    location = program.locate(next(named, function.position))
    return type(error)(error.message, f"{location}: {error.where}" if error.where else location, error.fix)
