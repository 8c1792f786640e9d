"""Scalar operations as LLVM instructions.

A bool is an i1, an integer its own width. Floats narrower than float32 are in registers the float that equals them:
arithmetic is float's, rounded after every operation. No instruction is undefined for any operand, division by zero
aside, which programs check: integers wrap, and shifts and conversions that LLVM leaves open are written out.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from whorl.codegen.functions.table import require_function
from whorl.ir.dtypes import BOOL, FLOAT32, FLOAT64, INT32, INT64, PACKED_BITS, UNSIGNED, is_float
from whorl.ir.native.expressions import Apply, Const
from whorl.llvm import narrow
from whorl.llvm.function import Function
from whorl.llvm.value import Value

_INTRINSICS = {
    **{name: name for name in ("sqrt", "floor", "ceil", "rint", "trunc")},
    "abs": "fabs",
    "maximum": "maximum",
    "minimum": "minimum",
}
_EXACT = frozenset(("floor", "ceil", "rint", "trunc", "abs", "neg", "maximum", "minimum", "fmod"))
"""Operations on floats whose result has no more bits than the operands."""
_COMPARE_FLOAT = {"lt": "olt", "le": "ole", "gt": "ogt", "ge": "oge", "eq": "oeq", "ne": "une"}
_COMPARE_INT = {"lt": "slt", "le": "sle", "gt": "sgt", "ge": "sge", "eq": "eq", "ne": "ne"}
_BINARY_FLOAT = {"add": "fadd", "sum": "fadd reassoc contract", "sub": "fsub", "mul": "fmul contract", "div": "fdiv"}
_BINARY_INT = {"sum": "add", **{name: name for name in ("add", "sub", "mul", "and", "or", "xor")}}
_EXTREMES = {"min": "lt", "max": "gt", "minimum": "lt", "maximum": "gt"}


def register_type(dtype: np.dtype) -> str:
    """The LLVM type of a scalar in a register."""
    if dtype == BOOL:
        return "i1"
    if is_float(dtype):
        return "double" if dtype.itemsize == 8 else "float"
    return f"i{dtype.itemsize * 8}"


def memory_type(dtype: np.dtype) -> str:
    """The LLVM type of an element in memory."""
    if dtype == BOOL:
        return "i8"
    return f"i{dtype.itemsize * 8}" if narrow.is_narrow(dtype) else register_type(dtype)


def literal(f: Function, constant: Const) -> Value:
    """A constant."""
    return f.number(constant.value, register_type(constant.dtype))


class Scalars:
    """Writes scalar operations into a function.

    `access()` is the metadata of an instruction that reads memory, as functions with tables do.
    """

    def __init__(self, f: Function, access: Callable[[], str]) -> None:
        self.f = f
        self.access = access
        self.functions = 0
        """Calls of functions so far."""

    # ---- memory ----------------------------------------------------------------------------------------------

    def from_memory(self, value: Value, dtype: np.dtype) -> Value:
        """An element as it was loaded, as a scalar."""
        if dtype == BOOL:
            return value.differs(0)
        if narrow.is_narrow(dtype):
            return self.f.call(narrow.widen(dtype, self.f.module), "float", value)
        return self._extend_low_bits(value, dtype)

    def to_memory(self, value: Value, dtype: np.dtype) -> Value:
        """A scalar as it is stored."""
        if dtype == BOOL:
            return self.f.convert("zext", value, "i8")
        if narrow.is_narrow(dtype):
            return self.f.call(narrow.pack(dtype, self.f.module), memory_type(dtype), value)
        if dtype in PACKED_BITS:
            return value & ((1 << PACKED_BITS[dtype]) - 1)
        return value

    def round(self, value: Value, dtype: np.dtype) -> Value:
        """A float that was computed, rounded to an element type."""
        if not narrow.is_narrow(dtype):
            return value
        return self.f.call(narrow.rounding(dtype, self.f.module), "float", value)

    # ---- operations ------------------------------------------------------------------------------------------

    def apply(self, expr: Apply, args: list[Value]) -> Value:
        """An operation's result."""
        source, op = expr.args[0].dtype, expr.op
        if op == "select":
            return self.f.select(*args)
        if op == "cast":
            return self.cast(args[0], source, expr.dtype)
        if op == "bits":
            return self._reinterpret(args[0], source, expr.dtype)
        if op in _COMPARE_INT:
            return self._compare(op, source, *args)
        if op == "isnan":
            return args[0].is_nan()
        if op in _EXTREMES and not (is_float(source) and op in _INTRINSICS):
            return self._extreme(expr, *args)
        if is_float(source):
            result = self._float(op, source, args)
            return result if op in _EXACT else self.round(result, source)
        return self._integer(expr, args)

    def _compare(self, op: str, dtype: np.dtype, a: Value, b: Value) -> Value:
        if is_float(dtype):
            return self.f.compare(_COMPARE_FLOAT[op], a, b)
        predicate = _COMPARE_INT[op]
        if (dtype in UNSIGNED or dtype == BOOL) and predicate[0] == "s":
            predicate = "u" + predicate[1:]
        return self.f.compare(predicate, a, b)

    def _extreme(self, expr: Apply, a: Value, b: Value) -> Value:
        """The operand that wins, of two zeros any; NaN where one is NaN, which takes fewer steps beside a constant."""
        f, dtype, op = self.f, expr.args[0].dtype, _EXTREMES[expr.op]
        if not is_float(dtype):
            return f.select(self._compare(op, dtype, a, b), a, b)
        a_is_number, b_is_number = (isinstance(x, Const) and x.value == x.value for x in expr.args)
        if b_is_number:
            return f.select(f.compare(f"u{op}", a, b), a, b)
        winner = f.select(f.compare(f"o{op}", a, b), a, b)
        return winner if a_is_number else f.select(a.is_nan(), a, winner)

    def _float(self, op: str, dtype: np.dtype, args: list[Value]) -> Value:
        if op in _BINARY_FLOAT:
            return self.f.binary(_BINARY_FLOAT[op], *args)
        if op == "neg":
            return -args[0]
        if op in _INTRINSICS:
            return self.f.intrinsic(_INTRINSICS[op], *args, flags="nsz " if op in _EXTREMES else "")
        self.functions += 1
        type = args[0].type
        name = require_function(op, FLOAT64 if type == "double" else FLOAT32, self.f.module)
        return self.f.call(name, type, *args, attributes=self.access())

    def _integer(self, expr: Apply, args: list[Value]) -> Value:
        op, dtype = expr.op, expr.dtype
        if op in _BINARY_INT:
            return self.f.binary(_BINARY_INT[op], *args)
        if op in ("div", "rem"):
            return self._divide(expr, *args)
        if op in ("shl", "shr"):
            return self._shift(expr, *args)
        if op == "not":
            return args[0] ^ (1 if dtype == BOOL else -1)
        if op == "neg":
            return -args[0]
        if op == "abs":
            if dtype in UNSIGNED:
                return args[0]
            is_negative = self.f.compare("slt", args[0], args[0].number(0))
            return self.f.select(is_negative, -args[0], args[0])
        if op == "pow" and dtype == INT64:
            return self.f.call(require_function("pow", INT64, self.f.module), "i64", *args)
        raise TypeError(f"{op} has no form for {dtype}")

    def _divide(self, expr: Apply, a: Value, b: Value) -> Value:
        """Truncated; by -1 a negation, since the smallest integer has no quotient by it."""
        f, divisor = self.f, expr.args[1]
        if expr.dtype in UNSIGNED:
            return f.binary(f"u{expr.op}", a, b)
        if isinstance(divisor, Const) and divisor.value != -1:
            return f.binary(f"s{expr.op}", a, b)
        is_special = b.equals(-1)
        result = f.binary(f"s{expr.op}", a, f.select(is_special, 1, b))
        return f.select(is_special, 0 if expr.op == "rem" else -a, result)

    def _shift(self, expr: Apply, a: Value, b: Value) -> Value:
        """By the width or more, or by a negative number: all bits leave, and copies of the sign come from the left."""
        f, width = self.f, expr.dtype.itemsize * 8
        is_within = b < width
        if expr.op == "shr" and expr.dtype not in UNSIGNED:
            return f.binary("ashr", a, f.select(is_within, b, width - 1))
        count = f.select(is_within, b, 0)
        return f.select(is_within, a << count if expr.op == "shl" else a >> count, 0)

    # ---- conversions -----------------------------------------------------------------------------------------

    def cast(self, value: Value, source: np.dtype, target: np.dtype) -> Value:
        """A scalar in another element type; of a float what no carrier holds becomes the carrier's smallest integer."""
        a, b = register_type(source), register_type(target)
        if is_float(source) and is_float(target):
            return self._cast_between_floats(value, source, target)
        if is_float(source):
            return self._cast_to_integer(value, target)
        is_unsigned = source in UNSIGNED or source == BOOL
        if is_float(target):
            return self.round(self.f.convert("uitofp" if is_unsigned else "sitofp", value, b), target)
        if a == b:
            return self._extend_low_bits(value, target)
        shrinks = source != BOOL and source.itemsize > target.itemsize
        converted = self.f.convert("trunc" if shrinks else "zext" if is_unsigned else "sext", value, b)
        return self._extend_low_bits(converted, target)

    def _extend_low_bits(self, value: Value, dtype: np.dtype) -> Value:
        """An integer of fewer bits than its byte, extended from its lowest bits; others as they are."""
        if dtype not in PACKED_BITS or is_float(dtype):
            return value
        unused = 8 - PACKED_BITS[dtype]
        raised = value << unused
        return self.f.binary("lshr" if dtype in UNSIGNED else "ashr", raised, raised.number(unused))

    def _cast_between_floats(self, value: Value, source: np.dtype, target: np.dtype) -> Value:
        a, b = register_type(source), register_type(target)
        if b == "double":
            return value if a == b else self.f.convert("fpext", value, "double")
        if a == "double" and target == narrow.FLOAT16:
            value = self.f.call(narrow.to_odd(self.f.module), "float", value)
        elif a == "double":
            value = self.f.convert("fptrunc", value, "float")
        return value if source == target or target == FLOAT32 else self.round(value, target)

    def _cast_to_integer(self, value: Value, target: np.dtype) -> Value:
        """By way of int64 for types of 64 bits and uint32, else of int32."""
        carrier = INT64 if target.itemsize == 8 or (target in UNSIGNED and target.itemsize == 4) else INT32
        bits = carrier.itemsize * 8
        bound = 2.0 ** (bits - 1)
        if target in UNSIGNED and target.itemsize == 8:
            less = value - 2.0**64
            value = self.f.select(self._is_within(value, bound, 2.0**64), less, value)
        whole = self.f.select(self._is_within(value, -bound, bound), value, -bound)
        return self.cast(self.f.convert("fptosi", whole, f"i{bits}"), carrier, target)

    def _is_within(self, value: Value, low: float, high: float) -> Value:
        """low <= value < high; false for NaN."""
        return (value >= low) & (value < high)

    def _reinterpret(self, value: Value, source: np.dtype, target: np.dtype) -> Value:
        """The element of another type that has the same bits in memory."""
        stored = self.to_memory(value, source)
        a, b = memory_type(source), memory_type(target)
        return self.from_memory(stored if a == b else self.f.convert("bitcast", stored, b), target)
