"""Scalar operations as LLVM instructions.

A bool is an i1, an integer its own width. float16 and bfloat16 are held as the float that equals them: arithmetic is
float's, rounded after every operation. No instruction is undefined for any operand: integers wrap, division by zero
aside, which programs check.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from whorl.codegen import mathlib, narrow
from whorl.codegen.formulas import Library, real_literal
from whorl.ir.dtypes import BOOL, FLOAT32, FLOAT64, INT32, INT64, PACKED_BITS, UNSIGNED, is_float
from whorl.ir.native.expressions import Apply, Const

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


def literal(value: bool | int | float, dtype: np.dtype) -> str:
    """A constant of an element type as LLVM writes it."""
    if dtype == BOOL:
        return "true" if value else "false"
    return real_literal(float(value), register_type(dtype)) if is_float(dtype) else str(int(value))


class Scalars:
    """Writes scalar operations: `value(instruction)` appends one and gives its register.

    `access()` is the metadata of an instruction that reads memory, as functions with tables do.
    """

    def __init__(self, value: Callable[[str], str], access: Callable[[], str], library: Library) -> None:
        self.value = value
        self.access = access
        self.library = library
        self.functions = 0
        """Calls of functions so far."""

    def call(self, name: str, kind: str, *args: str, result: str = "", access: str = "", flags: str = "") -> str:
        given = ", ".join(f"{kind} {a}" for a in args)
        return self.value(f"call {flags}{result or kind} {name}({given}){access}")

    def intrinsic(self, name: str, kind: str, *args: str, flags: str = "") -> str:
        function = f"@llvm.{name}.{({'float': 'f32', 'double': 'f64'}).get(kind, kind)}"
        self.library.setdefault(function, f"declare {kind} {function}({', '.join([kind] * len(args))})")
        return self.call(function, kind, *args, flags=flags)

    # ---- memory ----------------------------------------------------------------------------------------------

    def from_memory(self, value: str, dtype: np.dtype) -> str:
        """An element as it was loaded, as a scalar."""
        if dtype == BOOL:
            return self.value(f"icmp ne i8 {value}, 0")
        if narrow.is_narrow(dtype):
            return self.call(narrow.widen(dtype, self.library), memory_type(dtype), value, result="float")
        return self._low_bits(value, dtype)

    def to_memory(self, value: str, dtype: np.dtype) -> str:
        """A scalar as it is stored."""
        if dtype == BOOL:
            return self.value(f"zext i1 {value} to i8")
        if narrow.is_narrow(dtype):
            return self.call(narrow.pack(dtype, self.library), "float", value, result=memory_type(dtype))
        if dtype in PACKED_BITS:
            return self.value(f"and i8 {value}, {(1 << PACKED_BITS[dtype]) - 1}")
        return value

    def rounded(self, value: str, dtype: np.dtype) -> str:
        """A float that was computed, as an element type holds it."""
        if not narrow.is_narrow(dtype):
            return value
        return self.call(narrow.rounding(dtype, self.library), "float", value)

    # ---- operations ------------------------------------------------------------------------------------------

    def apply(self, expr: Apply, args: list[str]) -> str:
        """The register that holds an operation's result."""
        source, op = expr.args[0].dtype, expr.op
        kind = register_type(source)
        if op == "select":
            chosen = register_type(expr.dtype)
            return self.value(f"select i1 {args[0]}, {chosen} {args[1]}, {chosen} {args[2]}")
        if op == "cast":
            return self.cast(args[0], source, expr.dtype)
        if op == "bits":
            return self._same_bits(args[0], source, expr.dtype)
        if op in _COMPARE_INT:
            return self._compare(op, source, args)
        if op == "isnan":
            return self.value(f"fcmp uno {kind} {args[0]}, {args[0]}")
        if op in _EXTREMES and not (is_float(source) and op in _INTRINSICS):
            return self._extreme(expr, args)
        if is_float(source):
            result = self._float(op, source, kind, args)
            return result if op in _EXACT else self.rounded(result, source)
        return self._integer(expr, kind, args)

    def _compare(self, op: str, dtype: np.dtype, args: list[str]) -> str:
        kind = register_type(dtype)
        if is_float(dtype):
            return self.value(f"fcmp {_COMPARE_FLOAT[op]} {kind} {args[0]}, {args[1]}")
        predicate = _COMPARE_INT[op]
        if (dtype in UNSIGNED or dtype == BOOL) and predicate[0] == "s":
            predicate = "u" + predicate[1:]
        return self.value(f"icmp {predicate} {kind} {args[0]}, {args[1]}")

    def _extreme(self, expr: Apply, args: list[str]) -> str:
        """The operand that wins, of two zeros any; NaN where one is NaN."""
        dtype, op = expr.args[0].dtype, _EXTREMES[expr.op]
        kind, (a, b) = register_type(dtype), args
        if not is_float(dtype):
            return self.value(f"select i1 {self._compare(op, dtype, args)}, {kind} {a}, {kind} {b}")
        numbers = [isinstance(x, Const) and x.value == x.value for x in expr.args]
        if numbers[1]:
            return self.value(f"select i1 {self.value(f'fcmp u{op} {kind} {a}, {b}')}, {kind} {a}, {kind} {b}")
        winner = self.value(f"select i1 {self.value(f'fcmp o{op} {kind} {a}, {b}')}, {kind} {a}, {kind} {b}")
        if numbers[0]:
            return winner
        return self.value(f"select i1 {self.value(f'fcmp uno {kind} {a}, {a}')}, {kind} {a}, {kind} {winner}")

    def _float(self, op: str, dtype: np.dtype, kind: str, args: list[str]) -> str:
        if op in _BINARY_FLOAT:
            return self.value(f"{_BINARY_FLOAT[op]} {kind} {args[0]}, {args[1]}")
        if op == "neg":
            return self.value(f"fneg {kind} {args[0]}")
        if op in _INTRINSICS:
            return self.intrinsic(_INTRINSICS[op], kind, *args, flags="nsz " if op in _EXTREMES else "")
        self.functions += 1
        name = mathlib.require(op, FLOAT64 if kind == "double" else FLOAT32, self.library)
        return self.call(name, kind, *args, access=self.access())

    def _integer(self, expr: Apply, kind: str, args: list[str]) -> str:
        op, dtype = expr.op, expr.dtype
        if op in _BINARY_INT:
            return self.value(f"{_BINARY_INT[op]} {kind} {args[0]}, {args[1]}")
        if op in ("div", "rem"):
            return self._divide(expr, kind, args)
        if op in ("shl", "shr"):
            return self._shift(expr, kind, args)
        if op == "not":
            return self.value(f"xor {kind} {args[0]}, {'true' if dtype == BOOL else '-1'}")
        if op == "neg":
            return self.value(f"sub {kind} 0, {args[0]}")
        if op == "abs":
            if dtype in UNSIGNED:
                return args[0]
            negative = self.value(f"icmp slt {kind} {args[0]}, 0")
            opposite = self.value(f"sub {kind} 0, {args[0]}")
            return self.value(f"select i1 {negative}, {kind} {opposite}, {kind} {args[0]}")
        if op == "pow" and dtype == INT64:
            return self.call(mathlib.require("pow", INT64, self.library), kind, *args)
        raise TypeError(f"{op} has no form for {dtype}")

    def _divide(self, expr: Apply, kind: str, args: list[str]) -> str:
        """Truncated; by -1 a negation, since the smallest integer has no quotient by it."""
        (a, b), divisor = args, expr.args[1]
        if expr.dtype in UNSIGNED:
            return self.value(f"u{expr.op} {kind} {a}, {b}")
        if isinstance(divisor, Const) and divisor.value != -1:
            return self.value(f"s{expr.op} {kind} {a}, {b}")
        special = self.value(f"icmp eq {kind} {b}, -1")
        safe = self.value(f"select i1 {special}, {kind} 1, {kind} {b}")
        result = self.value(f"s{expr.op} {kind} {a}, {safe}")
        other = "0" if expr.op == "rem" else self.value(f"sub {kind} 0, {a}")
        return self.value(f"select i1 {special}, {kind} {other}, {kind} {result}")

    def _shift(self, expr: Apply, kind: str, args: list[str]) -> str:
        """By the width or more, or by a negative number: all bits leave, and copies of the sign come from the left."""
        (a, b), width = args, expr.dtype.itemsize * 8
        within = self.value(f"icmp ult {kind} {b}, {width}")
        if expr.op == "shr" and expr.dtype not in UNSIGNED:
            return self.value(f"ashr {kind} {a}, {self.value(f'select i1 {within}, {kind} {b}, {kind} {width - 1}')}")
        count = self.value(f"select i1 {within}, {kind} {b}, {kind} 0")
        moved = self.value(f"{'shl' if expr.op == 'shl' else 'lshr'} {kind} {a}, {count}")
        return self.value(f"select i1 {within}, {kind} {moved}, {kind} 0")

    # ---- conversions -----------------------------------------------------------------------------------------

    def cast(self, value: str, source: np.dtype, target: np.dtype) -> str:
        """A scalar in another element type; of a float what no carrier holds becomes the carrier's smallest integer."""
        a, b = register_type(source), register_type(target)
        if is_float(source) and is_float(target):
            return self._between_floats(value, source, target)
        if is_float(source):
            return self._float_to_integer(value, a, target)
        is_unsigned = source in UNSIGNED or source == BOOL
        if is_float(target):
            return self.rounded(self.value(f"{'uitofp' if is_unsigned else 'sitofp'} {a} {value} to {b}"), target)
        if a == b:
            return self._low_bits(value, target)
        shrinks = source != BOOL and source.itemsize > target.itemsize
        converted = self.value(f"{'trunc' if shrinks else 'zext' if is_unsigned else 'sext'} {a} {value} to {b}")
        return self._low_bits(converted, target)

    def _low_bits(self, value: str, dtype: np.dtype) -> str:
        """An integer of fewer bits than its byte, extended from its lowest bits; others as they are."""
        if dtype not in PACKED_BITS or is_float(dtype):
            return value
        unused = 8 - PACKED_BITS[dtype]
        raised = self.value(f"shl i8 {value}, {unused}")
        return self.value(f"{'lshr' if dtype in UNSIGNED else 'ashr'} i8 {raised}, {unused}")

    def _between_floats(self, value: str, source: np.dtype, target: np.dtype) -> str:
        a, b = register_type(source), register_type(target)
        if b == "double":
            return value if a == b else self.value(f"fpext float {value} to double")
        if a == "double":
            if target == narrow.FLOAT16:
                value = self.call(narrow.to_odd(self.library), "double", value, result="float")
            else:
                value = self.value(f"fptrunc double {value} to float")
        return value if source == target or target == FLOAT32 else self.rounded(value, target)

    def _float_to_integer(self, value: str, kind: str, target: np.dtype) -> str:
        """By way of int64 for types of 64 bits and uint32, else of int32."""
        carrier = INT64 if target.itemsize == 8 or (target in UNSIGNED and target.itemsize == 4) else INT32
        bits = carrier.itemsize * 8
        bound, lowest = (real_literal(sign * 2.0 ** (bits - 1), kind) for sign in (1, -1))
        if target in UNSIGNED and target.itemsize == 8:
            less = self.value(f"fsub {kind} {value}, {real_literal(2.0**64, kind)}")
            upper = self._within(value, kind, bound, real_literal(2.0**64, kind))
            value = self.value(f"select i1 {upper}, {kind} {less}, {kind} {value}")
        fits = self._within(value, kind, lowest, bound)
        whole = self.value(f"select i1 {fits}, {kind} {value}, {kind} {lowest}")
        return self.cast(self.value(f"fptosi {kind} {whole} to i{bits}"), carrier, target)

    def _within(self, value: str, kind: str, low: str, high: str) -> str:
        at_least = self.value(f"fcmp oge {kind} {value}, {low}")
        return self.value(f"and i1 {at_least}, {self.value(f'fcmp olt {kind} {value}, {high}')}")

    def _same_bits(self, value: str, source: np.dtype, target: np.dtype) -> str:
        stored = self.to_memory(value, source)
        a, b = memory_type(source), memory_type(target)
        return self.from_memory(stored if a == b else self.value(f"bitcast {a} {stored} to {b}"), target)
