"""Arithmetic, comparison and logic of two operands, and the choice between two."""

from __future__ import annotations

from collections.abc import Callable

from whorl.formats.onnx.versions.broadcasting import aligned
from whorl.formats.openvino.importing import IrNode, importer
from whorl.formats.openvino.ops.common import cast, emit
from whorl.ir.build import Builder
from whorl.ir.dtypes import BOOL, BY_NAME, INT32, INT64, is_integer
from whorl.ir.graph import Value
from whorl.ir.op import Op
from whorl.ir.types import tensor
from whorl.ops.elementwise.arithmetic import Add, Div, Max, Min, Mod, Mul, Sub
from whorl.ops.elementwise.casting import Cast
from whorl.ops.elementwise.comparison import Equal, Greater, GreaterOrEqual, Less, LessOrEqual, Where
from whorl.ops.elementwise.logic import And, BitShift, BitwiseAnd, BitwiseOr, BitwiseXor, Not, Or, Xor
from whorl.ops.elementwise.powers import Pow

UINT8 = BY_NAME["uint8"]


def operands(node: IrNode, build: Builder, left: int = 0) -> tuple[Value, Value]:
    """Two inputs that lie beside each other.

    With `auto_broadcast="pdpd"` the first axis of the right one lies under an axis of the left one, with -1 the last
    ones under each other as in NumPy.
    """
    x, y = node.required(left), node.required(left + 1)
    axis = node.integer("auto_broadcast.auto_broadcast_axis", 0)
    if node.text("auto_broadcast", "numpy", ("numpy", "none", "explicit", "pdpd")) != "pdpd" or axis < 0:
        return x, y
    return x, aligned(build, x, y, axis)


def _plain(op: Op) -> Callable[[IrNode, Builder], list[Value]]:
    def read(node: IrNode, build: Builder) -> list[Value]:
        return emit(node, build, op, *operands(node, build))

    return read


def _comparison(op: Op) -> Callable[[IrNode, Builder], list[Value]]:
    """False is less than true."""

    def read(node: IrNode, build: Builder) -> list[Value]:
        x, y = operands(node, build)
        if tensor(x).dtype == BOOL:
            x, y = cast(build, x, UINT8), cast(build, y, UINT8)
        return emit(node, build, op, x, y)

    return read


def _bits(op: Op, of_bools: Op) -> Callable[[IrNode, Builder], list[Value]]:
    def read(node: IrNode, build: Builder) -> list[Value]:
        x, y = operands(node, build)
        return emit(node, build, of_bools if tensor(x).dtype == BOOL else op, x, y)

    return read


_OF_NUMBERS = {
    "Add": Add(),
    "FloorMod": Mod(),
    "Maximum": Max(),
    "Minimum": Min(),
    "Mod": Mod(fmod=1),
    "Multiply": Mul(),
    "Subtract": Sub(),
}
_COMPARISONS = {
    "Greater": Greater(),
    "GreaterEqual": GreaterOrEqual(),
    "Less": Less(),
    "LessEqual": LessOrEqual(),
}
for _name, _op in _OF_NUMBERS.items():
    importer(_name, 1)(_plain(_op))
for _name, _op in _COMPARISONS.items():
    importer(_name, 1)(_comparison(_op))
importer("Equal", 1)(_plain(Equal()))
importer("LogicalAnd", 1)(_plain(And()))
importer("LogicalOr", 1)(_plain(Or()))
importer("LogicalXor", 1)(_plain(Xor()))
importer("Xor", 1)(_plain(Xor()))
importer("BitwiseAnd", 13)(_bits(BitwiseAnd(), And()))
importer("BitwiseOr", 13)(_bits(BitwiseOr(), Or()))
importer("BitwiseXor", 13)(_bits(BitwiseXor(), Xor()))
importer("BitwiseLeftShift", 15)(_plain(BitShift("LEFT")))
importer("BitwiseRightShift", 15)(_plain(BitShift("RIGHT")))


@importer("Divide", 1)
def divide_1(node: IrNode, build: Builder) -> list[Value]:
    """Integers are truncated, although `m_pythondiv` says otherwise."""
    node.flag("m_pythondiv", True)
    return emit(node, build, Div(), *operands(node, build))


@importer("Power", 1)
def power_1(node: IrNode, build: Builder) -> list[Value]:
    """Integers of types that Pow lacks are computed in int64."""
    base, exponent = operands(node, build)
    dtype = tensor(base).dtype
    if not is_integer(dtype) or dtype in (INT32, INT64):
        return emit(node, build, Pow(), base, exponent)
    return emit(node, build, Cast(dtype), build.add(Pow(), cast(build, base, INT64), cast(build, exponent, INT64)))


@importer("NotEqual", 1)
def not_equal_1(node: IrNode, build: Builder) -> list[Value]:
    """True where either is NaN."""
    return emit(node, build, Not(), build.add(Equal(), *operands(node, build)))


@importer("SquaredDifference", 1)
def squared_difference_1(node: IrNode, build: Builder) -> list[Value]:
    """(x - y)^2."""
    difference = build.add(Sub(), *operands(node, build))
    return emit(node, build, Mul(), difference, difference)


@importer("Select", 1)
def select_1(node: IrNode, build: Builder) -> list[Value]:
    """The condition and both sides broadcast."""
    x, y = operands(node, build, 1)
    return emit(node, build, Where(), cast(build, node.required(0), BOOL), x, y)
