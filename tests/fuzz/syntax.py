"""The fuzzer's programs: a small syntax of their own, so that an oracle can run them unaided."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Type:
    """A tensor: element type and shape. A length of None may differ between iterations, a shape of None in rank too."""

    dtype: str
    shape: tuple[int | None, ...] | None

    @property
    def is_fixed(self) -> bool:
        return self.shape is not None and None not in self.shape


@dataclass(frozen=True)
class Seq:
    """A sequence of tensors of any shapes."""

    dtype: str


@dataclass(frozen=True)
class Opt:
    """A tensor, a sequence or nothing."""

    of: Type | Seq


AnyType = Type | Seq | Opt
BOOL, INT64 = Type("bool", ()), Type("int64", ())


def accepts(expected: AnyType, passed: AnyType) -> bool:
    """Whether every value of one type is one of the other."""
    match expected, passed:
        case Type(shape=shape), Type(shape=other) if expected.dtype == passed.dtype:
            if shape is None or other is None:
                return shape is None
            return len(shape) == len(other) and all(a is None or a == b for a, b in zip(shape, other, strict=True))
        case Opt(), Opt():
            return accepts(expected.of, passed.of)
    return expected == passed


@dataclass(frozen=True)
class Var:
    name: str
    type: AnyType


@dataclass
class Block:
    """Statements, and the values they leave; reads its arguments and anything visible around it.

    With `is_direct` its ONNX outputs are its results themselves, also where these are arguments or from outside.
    """

    arguments: list[Var]
    statements: list[Statement] = field(default_factory=list)
    results: list[Var] = field(default_factory=list)
    is_direct: bool = False

    def own_names(self) -> set[str]:
        names = {v.name for v in self.arguments}
        return names.union(v.name for s in self.statements for v in s.targets if v is not None)


@dataclass
class Apply:
    """`target = op(*inputs)` with attributes; `value` of a Constant, `axis`, `index`, `part` (a slice), `shape`."""

    op: str
    target: Var
    inputs: list[Var]
    attributes: dict[str, Any] = field(default_factory=dict)

    @property
    def targets(self) -> list[Var | None]:
        return [self.target]


@dataclass
class LoopStatement:
    """ONNX Loop: body arguments (i, go_on, *carried), results (go_on, *carried, *collected)."""

    targets: list[Var | None]
    trip: Var | None
    condition: Var | None
    carried: list[Var]
    body: Block


@dataclass
class ScanStatement:
    """ONNX Scan: body arguments (*states, *slices), results (*states, *elements)."""

    targets: list[Var | None]
    states: list[Var]
    scanned: list[Var]
    axes: list[int]
    reverse: list[bool]
    output_axes: list[int]
    output_reverse: list[bool]
    body: Block


@dataclass
class IfStatement:
    targets: list[Var | None]
    condition: Var
    branches: tuple[Block, Block]


Statement = Apply | LoopStatement | ScanStatement | IfStatement


def inner_blocks(statement: Statement) -> tuple[Block, ...]:
    match statement:
        case LoopStatement() | ScanStatement():
            return (statement.body,)
        case IfStatement():
            return statement.branches
    return ()


def statements_of(block: Block) -> Iterator[Statement]:
    """Every statement of a program, inner ones too."""
    for statement in block.statements:
        yield statement
        for inner in inner_blocks(statement):
            yield from statements_of(inner)


def is_string(array: np.ndarray) -> bool:
    return array.dtype == object
