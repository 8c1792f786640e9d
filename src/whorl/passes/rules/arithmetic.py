"""Regrouping sums, products and other associative operations so that constants meet and become one.

Integers wrap, so that any grouping gives the same; floats are regrouped only where `fast_math` allows it, or where
every grouping rounds to the same bits.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from whorl.ir.dtypes import SIGNED, is_float, is_integer
from whorl.ir.graph import Node, Op, Value
from whorl.ops.elementwise.arithmetic import Abs, Add, Ceil, Div, Floor, Max, Min, Mul, Neg, Round, Sign, Sub, Sum
from whorl.ops.elementwise.comparison import Equal
from whorl.ops.elementwise.logic import And, BitwiseAnd, BitwiseNot, BitwiseOr, BitwiseXor, Not, Or, Xor
from whorl.ops.elementwise.nonlinear import Relu
from whorl.passes.rules.conditions import all_are, elements, equals, is_whole, joins_small, may_regroup
from whorl.passes.rules.pattern import C1, C2, AnyRule, C, Condition, Match, NodeRule, Rule, X, Y, is_constant, once, op

add, sub, mul, div, neg = op(Add), op(Sub), op(Mul), op(Div), op(Neg)


def regroupings(kind: type[Op], when: Sequence[Condition], displaced: Sequence[Sequence[Condition]]) -> Iterator[Rule]:
    """The rules of a commutative and associative op; `displaced`: conditions on moving a constant past `y` or `x`."""
    f, name = op(kind), f"{kind.__name__}Const"
    left, right = displaced
    yield Rule(f"{name}Commutative1", f(C, X), f(X, C))
    yield Rule(f"{name}Associative1", f(once(f(X, C1)), C2), f(X, f(C1, C2)), when=tuple(when))
    yield Rule(f"{name}Associative2", f(once(f(X, C)), Y), f(f(X, Y), C), when=(*when, *left))
    yield Rule(f"{name}Associative3", f(X, once(f(Y, C))), f(f(X, Y), C), when=(*when, *right))
    yield Rule(f"{name}Associative4", f(once(f(X, C1)), once(f(Y, C2))), f(f(X, Y), f(C1, C2)), when=tuple(when))


def _free(kinds: Sequence[type[Op]], when: Sequence[Condition]) -> Iterator[Rule]:
    for kind in kinds:
        yield from regroupings(kind, when, ((), ()))


COMMUTATIVE: tuple[Rule, ...] = (
    *_free((Add, Mul), (may_regroup, joins_small)),
    *_free((And, Or, Xor, BitwiseAnd, BitwiseOr, BitwiseXor), (joins_small,)),
    Rule("EqualConstCommutative1", op(Equal)(C, X), op(Equal)(X, C)),
)

DIFFERENCES: tuple[Rule, ...] = (
    Rule("SubConstToNeg", sub(X, C), lambda m: m.add(Add(), m["x"], negative(m, "c")), when=(may_regroup,)),
    Rule("AddOfSubConst", add(once(sub(C1, X)), C2), sub(add(C1, C2), X), when=(may_regroup,)),
    Rule("SubConstOfAddConst", sub(C1, once(add(X, C2))), sub(sub(C1, C2), X), when=(may_regroup,)),
    Rule("SubConstOfSubConst", sub(C1, once(sub(C2, X))), add(X, sub(C1, C2)), when=(may_regroup,)),
    Rule("SubOfAddConstOnLhs", sub(once(add(X, C)), Y), add(sub(X, Y), C), when=(may_regroup,)),
    Rule("SubOfAddConstOnRhs", sub(X, once(add(Y, C))), sub(sub(X, Y), C), when=(may_regroup,)),
    Rule("MulOfAddConst", mul(once(add(X, C1)), C2), add(mul(X, C2), mul(C1, C2)), when=(is_whole,)),
    Rule("NegOfAddConst", neg(once(add(X, C))), sub(neg(C), X), when=(may_regroup,)),
    Rule("NegOfSub", neg(once(sub(X, Y))), sub(Y, X), when=(may_regroup,)),
    Rule("NegOfSubConst", neg(once(sub(C, X))), sub(X, C), when=(may_regroup,)),
)
"""Differences as sums. Of floats, -(x - y) is -0 where y - x is 0."""

SIGNS: tuple[Rule, ...] = (
    Rule("NegOfNeg", neg(neg(X)), X),
    Rule("NegOfMulConst", neg(once(mul(X, C))), mul(X, neg(C))),
    Rule("MulOfNegConst", mul(neg(X), C), mul(X, neg(C))),
    Rule("AddConstOfNeg", add(neg(X), C), sub(C, X)),
    Rule("AddOfNegOnRhs", add(X, neg(Y)), sub(X, Y)),
    Rule("AddOfNegOnLhs", add(neg(X), Y), sub(Y, X)),
    Rule("SubOfNeg", sub(X, neg(Y)), add(X, Y)),
    Rule("SubConstOfNeg", sub(C, neg(X)), add(X, C)),
    Rule("MulByMinusOne", mul(X, C), lambda m: _negated(m), when=(equals("c", -1),)),
    Rule("AbsOfNeg", op(Abs)(neg(X)), op(Abs)(X)),
    Rule("NotOfNot", op(Not)(op(Not)(X)), X),
    Rule("BitwiseNotOfBitwiseNot", op(BitwiseNot)(op(BitwiseNot)(X)), X),
    *(Rule(f"{k.__name__}Of{k.__name__}", op(k)(op(k)(X)), op(k)(X)) for k in (Abs, Ceil, Floor, Round, Sign, Relu)),
)
"""Signs and what undoes or repeats itself: exact for floats too, which round alike on both sides of zero."""


def _is_power_of_two(array: np.ndarray) -> np.ndarray:
    """Whether 1 / x is exact and neither x nor 1 / x is subnormal."""
    if not is_float(array.dtype) or array.dtype.itemsize < 4:
        return np.zeros(array.shape, bool)
    mantissa, exponent = np.frexp(array)
    limit = -np.finfo(array.dtype).minexp - 2
    return (np.abs(mantissa) == 0.5) & (np.abs(exponent) < limit)


QUOTIENTS: tuple[Rule, ...] = (
    Rule("DivByPowerOfTwo", div(X, C), lambda m: _times_reciprocal(m), when=(all_are("c", _is_power_of_two),)),
    Rule(
        "DivOfDivConst",
        div(once(div(X, C1)), C2),
        div(X, mul(C1, C2)),
        when=(is_whole, lambda m: _product_fits(m)),
    ),
)


def negative(m: Match, name: str) -> Value:
    """A constant with its sign turned; unsigned integers wrap."""
    array = m.array(name)
    return m.constant(np.negative(array).astype(array.dtype, copy=False))


def _negated(m: Match) -> Value | None:
    """x * -1 as -x, where nothing is broadcast."""
    if not (m.dtype in SIGNED or is_float(m.dtype)) or m.type("x") != m.result.type:
        return None
    return m.add(Neg(), m["x"])


def _times_reciprocal(m: Match) -> Value:
    array = m.array("c")
    return m.add(Mul(), m["x"], m.constant(np.reciprocal(array).astype(array.dtype, copy=False)))


def _product_fits(m: Match) -> bool:
    """Both divisors are positive and their product does not wrap."""
    a, b = elements(m["c1"]), elements(m["c2"])
    if a is None or b is None or not a.size or not b.size or a.min() <= 0 or b.min() <= 0:
        return False
    return int(a.max()) * int(b.max()) <= np.iinfo(a.dtype).max


def _merge_constants(m: Match) -> Value | None:
    """One node for nested ones of the same op, with one constant for all of theirs."""
    kind = type(m.node.op)
    operands = [value for value in m.node.inputs if value is not None]
    flat: list[Value] = []
    for value in operands:
        inner = value.owner
        is_inner = isinstance(inner, Node) and type(inner.op) is kind and m.rewriter.uses(value) == 1
        flat += [v for v in inner.inputs if v is not None] if is_inner and isinstance(inner, Node) else [value]
    constants = [value for value in flat if is_constant(value)]
    if len(constants) < 2 or len(constants) == len(flat) or not _any_order(m, kind, constants):
        return None
    merged = constants[0]
    for value in constants[1:]:
        merged = m.add(m.node.op, merged, value)
    return m.add(m.node.op, *(value for value in flat if not is_constant(value)), merged)


def _any_order(m: Match, kind: type[Op], constants: Sequence[Value]) -> bool:
    """Whether the operands may be taken in any order: of floats, extremes with no zero and no NaN among constants."""
    if kind is Sum:
        return may_regroup(m)
    if is_integer(m.dtype):
        return True
    arrays = [elements(value) for value in constants]
    return all(a is not None and bool(np.all((a != 0) & (a == a))) for a in arrays)


VARIADIC: tuple[NodeRule, ...] = (NodeRule("MergeConstants", (Max, Min, Sum), _merge_constants),)

RULES: tuple[AnyRule, ...] = (*COMMUTATIVE, *DIFFERENCES, *SIGNS, *QUOTIENTS, *VARIADIC)
