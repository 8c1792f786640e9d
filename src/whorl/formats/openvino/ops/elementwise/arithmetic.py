"""Arithmetic, comparison, logic and bits of two operands, and the choice between two."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import reduce

import numpy as np

from whorl.formats.onnx.versions.broadcasting import aligned
from whorl.formats.openvino.ops.layers import SHORT, converted, in_int32, number, plain, types_of, without_axes
from whorl.formats.openvino.ops.nodes import cast, emit
from whorl.formats.openvino.reading.importer import IrNode, importer
from whorl.formats.openvino.writing.exporter import LayerWriter, Source, exporter, rewritten
from whorl.ir.build import Builder
from whorl.ir.dtypes import BOOL, BY_NAME, FLOAT32, INT32, INT64, SIGNED, is_float, is_integer
from whorl.ir.graph import Node, Op, Value
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


_CLAMPED = (FLOAT32, INT32)

exporter("Add")(in_int32("Add", 1, auto_broadcast="numpy"))
exporter("Sub")(in_int32("Subtract", 1, auto_broadcast="numpy"))
exporter("Mul")(in_int32("Multiply", 1, auto_broadcast="numpy"))
exporter("Div")(in_int32("Divide", 1, auto_broadcast="numpy", m_pythondiv=False))
exporter("Less")(plain("Less", 1, auto_broadcast="numpy"))
exporter("LessOrEqual")(plain("LessEqual", 1, auto_broadcast="numpy"))
exporter("Greater")(plain("Greater", 1, auto_broadcast="numpy"))
exporter("GreaterOrEqual")(plain("GreaterEqual", 1, auto_broadcast="numpy"))
exporter("Equal")(plain("Equal", 1, auto_broadcast="numpy"))
exporter("And")(plain("LogicalAnd", 1, auto_broadcast="numpy"))
exporter("Or")(plain("LogicalOr", 1, auto_broadcast="numpy"))
exporter("Xor")(plain("LogicalXor", 2, auto_broadcast="numpy"))
exporter("Not")(plain("LogicalNot", 1))
exporter("BitwiseAnd")(plain("BitwiseAnd", 13, auto_broadcast="numpy"))
exporter("BitwiseOr")(plain("BitwiseOr", 13, auto_broadcast="numpy"))
exporter("BitwiseXor")(plain("BitwiseXor", 13, auto_broadcast="numpy"))
exporter("BitwiseNot")(plain("BitwiseNot", 13))


@exporter("Where")
def write_where(node: Node, write: LayerWriter) -> list[Source]:
    """Of truth values by logic: OpenVINO's CPU plugin fails where the condition is also one of them."""
    condition, x, y = (write.source(value) for value in node.inputs)
    types = types_of(node.outputs)
    if types[0].dtype != BOOL:
        return write.layer("Select", 1, [condition, x, y], types, auto_broadcast="numpy")
    (other,) = write.layer("LogicalNot", 1, [condition], [condition.type])
    sides = [
        write.layer("LogicalAnd", 1, pair, types, auto_broadcast="numpy")[0] for pair in ((condition, x), (other, y))
    ]
    return write.layer("LogicalOr", 1, sides, types, auto_broadcast="numpy")


@exporter("Mod")
def write_mod(node: Node, write: LayerWriter) -> Source | list[Source]:
    """The sign of the divisor, or that of the dividend. OpenVINO makes NaN of what an infinity leaves of a number."""
    op, fixed = node.op, write.constant_value(node.inputs[1])
    assert isinstance(op, Mod)
    written = in_int32("Mod" if op.fmod else "FloorMod", 1, auto_broadcast="numpy")(node, write)
    (rest,) = [written] if isinstance(written, Source) else written
    if not is_float(rest.type.dtype) or (fixed is not None and np.isfinite(fixed.astype(np.float64)).all()):
        return rest
    x, y = (write.source(value) for value in node.inputs)
    truth = rest.type.with_dtype(BOOL)
    infinite = write.layer("IsInf", 10, [y], [y.type.with_dtype(BOOL)], detect_negative=True, detect_positive=True)[0]
    finite = write.layer("IsFinite", 10, [x], [x.type.with_dtype(BOOL)])[0]
    applies = write.layer("LogicalAnd", 1, [infinite, finite], [truth])[0]
    instead = x if op.fmod else _where_signs_differ(write, x, y, rest)
    return write.layer("Select", 1, [applies, instead, rest], [rest.type])[0]


def _where_signs_differ(write: LayerWriter, x: Source, y: Source, rest: Source) -> Source:
    """y where the signs differ, else x."""
    product = write.layer("Multiply", 1, [x, y], [rest.type])[0]
    zero = write.constant(np.zeros((), x.type.dtype))
    opposed = write.layer("Less", 1, [product, zero], [rest.type.with_dtype(BOOL)])[0]
    return write.layer("Select", 1, [opposed, y, x], [rest.type])[0]


@exporter("BitShift")
def write_shift(node: Node, write: LayerWriter) -> list[Source]:
    """OpenVINO takes the distance modulo the width; where all bits have gone, what is left is chosen."""
    op, (x, distance) = node.op, node.inputs
    assert isinstance(op, BitShift) and x is not None
    width, fixed = 8 * tensor(x).dtype.itemsize, write.constant_value(distance)
    name = "BitwiseLeftShift" if op.direction == "LEFT" else "BitwiseRightShift"
    written = in_int32(name, 15, auto_broadcast="numpy")(node, write)
    shifted = [written] if isinstance(written, Source) else written
    if fixed is not None and ((fixed >= 0) & (fixed < width)).all():
        return shifted
    (result,), places = types_of(node.outputs), write.source(distance)
    zero, last = (write.constant(np.array(number, places.type.dtype)) for number in (0, width - 1))
    truth = places.type.with_dtype(BOOL)
    gone = write.layer("Greater", 1, [places, last], [truth])[0]
    gone = write.layer("LogicalOr", 1, [gone, write.layer("Less", 1, [places, zero], [truth])[0]], [truth])[0]
    left = write.constant(np.zeros((), result.dtype))
    if op.direction == "RIGHT" and result.dtype in SIGNED:
        negative = write.layer("Less", 1, [write.source(x), left], [tensor(x).with_dtype(BOOL)])[0]
        ones = write.constant(np.array(-1, result.dtype))
        left = write.layer("Select", 1, [negative, ones, left], [tensor(x)])[0]
    return write.layer("Select", 1, [gone, left, shifted[0]], [result])


@exporter("Pow")
def write_power(node: Node, write: LayerWriter) -> list[Source]:
    """Both in one element type: the base's, or float32 for an integer to the power of a float."""
    base, exponent = (write.source(value) for value in node.inputs)
    (result,) = types_of(node.outputs)
    common = result.dtype
    if is_integer(common) and not is_integer(exponent.type.dtype):
        common = FLOAT32
    elif common in SHORT:
        common = INT32
    sources = [converted(write, source, common) for source in (base, exponent)]
    (power,) = write.layer("Power", 1, sources, [result.with_dtype(common)], auto_broadcast="numpy")
    return [converted(write, power, result.dtype)]


def _chain(type: str) -> Callable[[Node, LayerWriter], list[Source]]:
    """Any number of operands, two at a time."""

    def write_chain(node: Node, write: LayerWriter) -> list[Source]:
        (result,), sources = types_of(node.outputs), [write.source(value) for value in node.inputs]

        def step(left: Source, right: Source) -> Source:
            return write.layer(type, 1, [left, right], [result], auto_broadcast="numpy")[0]

        return [reduce(step, sources)]

    return write_chain


exporter("Max")(_chain("Maximum"))
exporter("Min")(_chain("Minimum"))
exporter("Sum")(_chain("Add"))


@rewritten("Mean")
def mean(node: Node, build: Builder, *inputs: Value) -> Value:
    """The sum over the count."""
    total = reduce(lambda x, y: build.add(Add(), x, y), inputs)
    return build.add(Div(), total, number(build, total, len(inputs)))


@exporter("Clip")
def write_clip(node: Node, write: LayerWriter) -> list[Source]:
    """Clamp for two constant bounds in order, else a maximum and a minimum."""
    x, low, high = (*node.inputs, None, None)[:3]
    (result,), source = types_of(node.outputs), write.source(x)
    bounds = [write.constant_value(bound) for bound in (low, high)]
    numbers = [None if bound is None or bound.size != 1 else bound.reshape(-1)[0].item() for bound in bounds]
    least, most = numbers
    if least is not None and most is not None and -math.inf < least <= most < math.inf and result.dtype in _CLAMPED:
        return write.layer("Clamp", 1, [source], [result], min=float(least), max=float(most))
    for bound, kind in ((low, "Maximum"), (high, "Minimum")):
        if bound is not None:
            operand = without_axes(write, write.source(bound))
            (source,) = write.layer(kind, 1, [operand, source], [result], auto_broadcast="numpy")
    return [source]
