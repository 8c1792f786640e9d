"""Passes over MLIR text, as onnx-mlir's optimiser runs them: text in, text out."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec import Struct, field
from msgspec.structs import replace

from whorl.errors import SaveError, WhorlError
from whorl.formats.mlir.constprop import ConstpropOptions, propagate_constants
from whorl.formats.mlir.exporting import export_module
from whorl.formats.mlir.parser import parse_program, split_text
from whorl.formats.mlir.printer import FunctionPrinter, Locations, Signature, Style, print_declaration, print_module
from whorl.formats.mlir.protos import Note
from whorl.formats.mlir.reader import ReadFunction, read_function
from whorl.formats.mlir.syntax import Function, Program
from whorl.formats.options import LoadOptions
from whorl.ir.graph import Value
from whorl.ir.types import Type, meet, same_kind
from whorl.passes.context import PassOptions
from whorl.passes.pipeline import optimize
from whorl.passes.report import Report

SEPARATOR = "// -----\n"
CANONICAL = ("simplify", "simplify_control_flow", "cse", "dce")


class TextOptions(Struct, frozen=True):
    """The passes in order, the options of constant propagation, and how text is split and printed."""

    passes: Sequence[str] = ()
    constprop: ConstpropOptions = field(default_factory=ConstpropOptions)
    split: bool = False
    locations: bool = False


class Optimized(Struct):
    """The text after the passes, what was folded, and the errors of pieces that could not be read."""

    text: str
    report: Report = field(default_factory=Report)
    errors: list[WhorlError] = field(default_factory=list)


def optimize_text(text: str, name: str, options: TextOptions, load: LoadOptions) -> Optimized:
    """Run the passes over every function. Without `split` an error is raised; with it, other pieces go on."""
    result = Optimized("")
    if not options.split:
        result.text = _piece(text, name, 0, options, load, result.report)
        return result
    pieces: list[str] = []
    for line, piece in split_text(text):
        try:
            pieces.append(_piece(piece, name, line, options, load, result.report))
        except WhorlError as error:
            result.errors.append(error)
    result.text = SEPARATOR.join(pieces)
    return result


def _piece(text: str, name: str, line: int, options: TextOptions, load: LoadOptions, report: Report) -> str:
    program = parse_program(text, name, line)
    style = Style(options.locations)
    locations = Locations(program.locations, style)
    lines: list[str] = []
    for function in program.functions:
        if function.block is None:
            lines.append(print_declaration(function, "  "))
        else:
            lines += _function(program, function, options, load, report, locations)
    return print_module(lines, program, locations)


def _function(
    program: Program,
    function: Function,
    options: TextOptions,
    load: LoadOptions,
    report: Report,
    locations: Locations,
) -> list[str]:
    read = read_function(program, function, load)
    inferred = "shape-inference" in options.passes
    notes = _inferred_notes(read) if inferred else read.notes
    results = _result_types(read, inferred)
    for each in options.passes:
        STEPS[each](read, options, report)
    block = function.block
    assert block is not None
    signature = Signature(
        function.name,
        [argument.texts for argument in block.arguments],
        results,
        read.result_texts,
        read.texts,
        read.terminator,
        read.location,
        frozenset(k for k, argument in enumerate(block.arguments) if argument.type is None),
    )
    try:
        exported = export_module(read.module)
        return FunctionPrinter(exported, notes, locations.style, locations).function(signature, "  ")
    except SaveError as error:
        raise error.at(f"@{function.name} of {program.locate(function.position)}") from None


def _inferred_notes(read: ReadFunction) -> dict[str, Note]:
    """The notes with what inference knows before any pass and the text does not say."""
    notes = dict(read.notes)
    regions = [read.module.main, *(region for node in read.module.nodes() for region in node.regions)]
    for region in regions:
        for value in (*region.arguments, *(value for node in region.nodes for value in node.outputs)):
            if value.name in notes:
                notes[value.name] = replace(notes[value.name], type=_known_type(value, notes[value.name].type))
    return notes


def _result_types(read: ReadFunction, inferred: bool) -> list[Type | None]:
    """The types in the head of a function: as the text has them, or as inference knows them before any pass."""
    if not inferred:
        return read.results
    values = iter(read.module.main.results)
    return [None if type is None else _known_type(next(values), type) for type in read.results]


def _known_type(value: Value, declared: Type | None) -> Type:
    """The type in the text, with what only inference knows filled in."""
    return value.type if declared is None or not same_kind(declared, value.type) else meet(declared, value.type)


def _canonicalize(read: ReadFunction, options: TextOptions, report: Report) -> None:
    optimize(read.module, PassOptions(only=CANONICAL, disabled=options.constprop.disabled))


def _constprop(read: ReadFunction, options: TextOptions, report: Report) -> None:
    declared = {name: note.type for name, note in read.notes.items() if note.type is not None}
    done = propagate_constants(read.module, options.constprop, declared)
    for kind, tally in done.folded.items():
        total = report.folded.setdefault(kind, type(tally)())
        total.invocations += tally.invocations
        total.elements += tally.elements


STEPS: dict[str, Callable[[ReadFunction, TextOptions, Report], None]] = {
    "shape-inference": lambda read, options, report: None,
    "decompose-onnx": lambda read, options, report: None,
    "canonicalize": _canonicalize,
    "constprop-onnx": _constprop,
}
"""The passes by their names. Types and versions are settled while a function is read: two have nothing left to do."""
