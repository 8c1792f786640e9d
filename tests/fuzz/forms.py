"""A form: one way to write an op, with operands whose lengths are letters that each run gives a number.

Letters: N, M, K and L are any length, 0 and 1 among them; P, Q and R at least 1; H and W at least 4. A dim is a letter,
a number or an expression of both: "N 2*M 3".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

import numpy as np
from onnx import helper
from onnx.defs import OpSchema, get_schema

from whorl.ir.dtypes import BY_NAME, STRING
from whorl.lowering.native_types import NATIVE

OPSET = 28
SCHEMA_NAMES = {"float": "float32", "double": "float64"}
BY_SCHEMA = {name: dtype for name, dtype in BY_NAME.items() if dtype in NATIVE or dtype == STRING}
Dims = tuple[str, ...]
ANY, LEAST_ONE, LEAST_FOUR = "NMKL", "PQR", "HW"


@dataclass(frozen=True)
class Operand:
    """One input: its dims, its element type (the cell's where empty), and how its elements are drawn.

    draw: "" any element; "tame" small numbers; "finite" those without infinities; "index A" below the length A,
    negative ones too; "below A" not negative; "lengths A B" those lengths; "is 1 2" these. `fuzz.elements` has the
    rest, but for what a mask over the length A leaves, whose number only the run knows: "places A" and "spots A" where
    it is true, as [?, 1] and [?], "masked A" elements there.
    """

    dims: Dims
    dtype: str = ""
    draw: str = ""
    sequence: bool = False


@dataclass(frozen=True)
class Slack:
    """How far a float may lie from the oracle's: units in the last place of itself, and of the number 1."""

    ulps: float = 0.0
    units: float = 0.0

    def __add__(self, other: Slack) -> Slack:
        return Slack(self.ulps + other.ulps, self.units + other.units)


EXACTLY = Slack()
EITHER_ZERO = Slack(0, 1e-9)
"""Exact but for the sign of zero: of zeros of both signs, an extreme of many numbers may be either."""
STASHED = ("GroupNormalization", "LayerNormalization", "RMSNormalization")
"""Ops that compute in float32, their `stash_type`, also where they are given float64."""
EXACT, MOVE, STEADY, FUNCTION, SUM = "exact", "move", "steady", "function", "sum"
"""What an op does to numbers: computes exactly; moves them; changes no distance between them to more than the sum of
those of its operands; has rounding errors of some ulps; adds up rounding errors."""


@dataclass(frozen=True)
class Form:
    """An op's name, its operands (None: blank), the dims of its results, attributes by the cell's element type."""

    op: str
    operands: tuple[Operand | None, ...]
    results: tuple[Dims | None, ...]
    attributes: Callable[[str], dict[str, Any]] = field(default=lambda dtype: {})
    kind: str = EXACT
    slack: Slack = EXACTLY
    gives: tuple[str, ...] = ()
    only: Sequence[str] = ()
    sequence: bool = False
    label: str = ""

    @property
    def schema(self) -> OpSchema:
        return get_schema(self.op, OPSET)

    def dtypes(self) -> list[str]:
        """The element types that the schema allows for the cell, among those with native code; no sums of strings."""
        allowed = [_allowed(self.schema, k) for k, o in enumerate(self.operands) if o is not None and not o.dtype]
        names = self.only or [n for n in BY_SCHEMA if all(n in a for a in allowed)]
        return [n for n in names if n in BY_SCHEMA and not (n == "string" and self.kind == SUM)]

    def result_dtypes(self, dtype: str) -> list[str]:
        """The element types of the results, from the schema or as said."""
        if self.gives:
            return [dtype if name == "" else name for name in self.gives]
        bound = {
            _formal(self.schema, k).type_str: o.dtype or dtype for k, o in enumerate(self.operands) if o is not None
        }
        outputs = self.schema.outputs
        types = [outputs[min(k, len(outputs) - 1)].type_str for k in range(len(self.results))]
        return [bound[t] if t in bound else _only(self.op, t) for t in types]


def _formal(schema: OpSchema, k: int) -> OpSchema.FormalParameter:
    return schema.inputs[min(k, len(schema.inputs) - 1)]


@cache
def _of_constraint(op: str, variable: str) -> frozenset[str]:
    for constraint in get_schema(op, OPSET).type_constraints:
        if constraint.type_param_str == variable:
            return frozenset(_plain(t) for t in constraint.allowed_type_strs)
    return frozenset((_plain(variable),))


def _only(op: str, variable: str) -> str:
    """The one type that a type variable of the op stands for."""
    (name,) = _of_constraint(op, variable)
    return name


def _allowed(schema: OpSchema, k: int) -> frozenset[str]:
    return _of_constraint(schema.name, _formal(schema, k).type_str)


def _plain(text: str) -> str:
    """`float32` of `tensor(float)` or `seq(tensor(float))`."""
    name = text.replace("seq(", "").replace("tensor(", "").rstrip(")")
    return SCHEMA_NAMES.get(name, name)


def dims_of(text: str) -> Dims:
    return tuple(text.split())


def size(dim: str, lengths: Mapping[str, int]) -> int:
    """The number that a dim is, given the letters'."""
    return int(dim) if dim.isdigit() else int(eval(dim, {"__builtins__": {}}, dict(lengths)))


def shape(dims: Dims, lengths: Mapping[str, int]) -> tuple[int, ...]:
    return tuple(size(dim, lengths) for dim in dims)


def letters(dims: Dims) -> set[str]:
    return {c for dim in dims for c in dim if c.isupper()}


# ---- short ways to write operands ----------------------------------------------------------------------------------


def x(dims: str = "", draw: str = "") -> Operand:
    """An operand of the cell's element type."""
    return Operand(dims_of(dims), "", draw)


def o(dtype: str, dims: str = "", draw: str = "") -> Operand:
    return Operand(dims_of(dims), dtype, draw)


def index(dims: str, length: str, dtype: str = "int64") -> Operand:
    return Operand(dims_of(dims), dtype, f"index {length}")


def lengths(dims: str) -> Operand:
    """The lengths themselves, as a vector."""
    return Operand((str(len(dims.split())),), "int64", f"lengths {dims}")


def ints(*values: int) -> Operand:
    return Operand((str(len(values)),), "int64", "is " + " ".join(map(str, values)))


def number(value: float, dtype: str = "int64") -> Operand:
    return Operand((), dtype, f"is {value}")


def sequence(dims: str) -> Operand:
    return Operand(dims_of(dims), "", "", True)


def form(op: str, *operands: Operand | str | None, to: str | Sequence[str | None] = "", **message: Any) -> Form:
    """A form; a text among the operands is one of the cell's element type. What else is said: fields or attributes."""
    own = {k: message.pop(k) for k in ("kind", "slack", "gives", "only", "sequence", "label") if k in message}
    fixed = message.pop("by", None)
    results = tuple(None if t is None else dims_of(t) for t in ([to] if isinstance(to, str) else to))
    passed = tuple(x(v) if isinstance(v, str) else v for v in operands)
    made = Form(op, passed, results, fixed or (lambda dtype: message), **own)
    if made.kind == SUM:
        tame = lambda v: v if v is None or v.draw or v.dtype not in ("", "float32") else replace(v, draw="tame")  # noqa: E731
        made = replace(made, operands=tuple(tame(v) for v in made.operands))
    return made


def onnx_type(name: str) -> int:
    return helper.np_dtype_to_tensor_dtype(BY_NAME[name])


def numpy_type(name: str) -> np.dtype:
    return BY_NAME[name]
