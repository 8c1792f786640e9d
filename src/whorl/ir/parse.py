"""From the text form back to modules: names become values, and every fault has its line and column."""

from __future__ import annotations

from typing import Any

import numpy as np
from msgspec import Struct, field

from whorl.errors import LoadError, TypeRuleError
from whorl.ir.constants import Constant
from whorl.ir.fields import build_op, check_inputs, check_regions, named
from whorl.ir.grammar import read
from whorl.ir.graph import Module, Node, Region, Value, walk
from whorl.ir.infer import Inference, names_of
from whorl.ir.suggestions import suggest
from whorl.ir.syntax import Line, Made, ModuleText, Name, RegionText, Syntax
from whorl.ir.types import same_kind
from whorl.ir.walk import clone_region

MAX_DEPTH = 96
"""Brackets that may be open at once unless the caller allows more."""
_SYNTAX = Syntax()
_TOO_DEEP = "the program is nested too deeply for the stack of this Python"


def parse_module(text: str, *, check: bool = True, max_depth: int = MAX_DEPTH) -> Module:
    """The module that `print_module` made the text from; the ops that it names must be defined already.

    The types in the text are taken as they are. With `check`, inference must agree with them in everything but shape.
    Errors: LoadError with line, column and fix.
    """
    try:
        parsed: ModuleText = read(text, "module", _SYNTAX, max_depth)
        builder = _Builder()
        module = Module(builder.region(parsed.main), [output.name for output in parsed.outputs])
        module.declared = {output.name: output.declared for output in parsed.outputs if output.declared is not None}
        module.defaults = _defaults(parsed)
        module.metadata = named(parsed.metadata)
        _refuse_equal_inputs(parsed.main)
        if check:
            builder.check(module.main)
    except RecursionError:
        raise LoadError(_TOO_DEEP, fix="lower max_depth") from None
    return module


def parse_region(text: str, *, check: bool = True, max_depth: int = MAX_DEPTH) -> Region:
    """The region that `print_region` made the text from. Errors: LoadError."""
    try:
        builder = _Builder()
        region = builder.region(read(text, "region", _SYNTAX, max_depth))
        if check:
            builder.check(region)
    except RecursionError:
        raise LoadError(_TOO_DEEP, fix="lower max_depth") from None
    return region


def _defaults(text: ModuleText) -> dict[str, Any]:
    inputs = {made.name.hint for made in text.main.arguments}
    for default in text.defaults.fields:
        if default.name not in inputs:
            raise LoadError(
                f"{default.name!r} has a default but is no input", default.location, suggest(default.name, inputs)
            )
        if not isinstance(default.value, np.ndarray):
            raise LoadError(
                f"the default of {default.name!r} is no tensor", default.location, "write float32[2] <1.0 2.0>"
            )
    return named(text.defaults)


def _refuse_equal_inputs(main: RegionText) -> None:
    names: set[str] = set()
    for made in main.arguments:
        if made.name.hint in names:
            raise LoadError(f"two inputs are called {made.name.hint!r}", made.name.location, "rename one of them")
        names.add(made.name.hint)


class _Builder(Struct):
    """Makes regions of their texts and remembers where the text has each node."""

    lines: dict[Node, Line] = field(default_factory=dict[Node, Line])

    def region(self, text: RegionText) -> Region:
        region = Region(text.name)
        scope: dict[tuple[str, int], Value] = {}
        for made in text.arguments:
            _define(scope, made, region.add_argument(made.name.hint, made.type, made.known))
        for line in text.lines:
            region.nodes.append(self.node(line, scope))
        region.results = [_find(scope, name) for name in text.results]
        return region

    def node(self, line: Line, scope: dict[tuple[str, int], Value]) -> Node:
        op = build_op(line.op)
        check_inputs(op, [name is not None for name in line.inputs], line.op.location)
        check_regions(op, len(line.regions), line.op.location)
        inputs = [None if name is None else _find(scope, name) for name in line.inputs]
        node = Node(op, inputs, [self.region(inner) for inner in line.regions], line.name)
        derived = op.infer_known()[0] if isinstance(op, Constant) else None
        for index, made in enumerate(line.made):
            known = derived if made.known is None else made.known
            node.outputs.append(Value(made.name.hint, made.type, node, index, known))
            _define(scope, made, node.outputs[-1])
        self.lines[node] = line
        return node

    def check(self, region: Region) -> None:
        """Hold the number and kinds of every node's outputs against what inference says of a copy."""
        copy = clone_region(region)
        pairs = list(zip(walk(region), walk(copy), strict=True))
        inference = _LocatedInference(names_of(copy.arguments), {other: self.lines[node] for node, other in pairs})
        inference.region(copy)
        for node, other in pairs:
            for made, value, inferred in zip(self.lines[node].made, node.outputs, other.outputs, strict=True):
                if not same_kind(value.type, inferred.type):
                    message = f"{made.name.text} is {value.type} here, {node.op.name} gives {inferred.type}"
                    raise LoadError(message, made.name.location, "correct the type")


class _LocatedInference(Inference):
    """Inference whose errors say where the text has the node."""

    def __init__(self, used: set[str], lines: dict[Node, Line]) -> None:
        super().__init__(used)
        self.lines = lines

    def node(self, node: Node) -> None:
        location = self.lines[node].op.location
        try:
            super().node(node)
        except TypeRuleError as error:
            raise LoadError(error.message, f"{location}: {error.where}", error.fix) from None
        except (AttributeError, LookupError, TypeError, ValueError, ArithmeticError):
            # Type rules may take for granted what a file format checks before them: which inputs are there, how many
            # regions. A text has no such check, so what they run into is a fault of the text.
            message = "its inputs, its fields and its regions do not fit together"
            fix = "compare the numbers of inputs, of regions, of their arguments and results with what the fields say"
            raise LoadError(message, f"{location}: {node.title}", fix) from None


def _define(scope: dict[tuple[str, int], Value], made: Made, value: Value) -> None:
    name = made.name
    if scope.setdefault(name.key, value) is not value:
        fix = f"number it where another value has that name: %{name.hint}~{name.number + 1}"
        raise LoadError(f"{name.text} is defined twice in its region", name.location, fix)


def _find(scope: dict[tuple[str, int], Value], name: Name) -> Value:
    value = scope.get(name.key)
    if value is None:
        near = suggest(name.hint, (hint for hint, _ in scope))
        fix = near or "a region reads its arguments and its own earlier nodes; pass it outer values as arguments"
        raise LoadError(f"{name.text} is not defined in its region before this place", name.location, fix)
    return value
