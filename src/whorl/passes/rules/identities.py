"""Operations that change nothing, or that give the same whatever they are given.

Signed zeros and NaN count: `x + 0` is not `x` where x is -0, `x + -0` is; `x * 0` is 0 of integers only.
"""

from __future__ import annotations

import math

import numpy as np

from whorl.ir.dtypes import BOOL, is_float, is_integer
from whorl.ir.graph import Value
from whorl.ops.elementwise.arithmetic import Add, Clip, Div, Identity, Max, Mean, Min, Mul, Sub, Sum
from whorl.ops.elementwise.casting import Cast, CastLike
from whorl.ops.elementwise.comparison import Where
from whorl.ops.elementwise.logic import And, BitShift, BitwiseAnd, BitwiseOr, BitwiseXor, Not, Or, Xor
from whorl.ops.elementwise.powers import Pow
from whorl.ops.movement.axes import Concat, Slice, Split, Tile, Transpose
from whorl.ops.movement.padding import Pad
from whorl.ops.movement.shapes import Expand, Reshaping
from whorl.ops.random.distributions import Dropout
from whorl.ops.reduce.reductions import ReduceMax, ReduceMean, ReduceMin, ReduceProd, ReduceSum
from whorl.passes.rules.conditions import (
    all_are,
    bits_are,
    elements,
    equals,
    fast_math,
    is_truth,
    is_whole,
    keeps_type,
    same_type,
    static_shape,
)
from whorl.passes.rules.pattern import (
    ANY,
    AnyRule,
    C,
    Condition,
    Match,
    NodeRule,
    Result,
    Rule,
    Variable,
    X,
    maker,
    op,
    tensor_type,
)

LARGEST_SPLAT = 1 << 16
"""Elements up to which a result that is all zeros or ones becomes a constant."""
_TRUE, _FALSE = equals("c", 1), equals("c", 0)


def _adds_nothing(m: Match) -> bool:
    """c is 0; of floats -0, since 0 would turn -0 into 0."""
    if is_float(m.dtype) and not fast_math(m):
        return bits_are("c", -0.0)(m)
    return equals("c", 0)(m)


def _takes_nothing(m: Match) -> bool:
    """c is 0; of floats not -0, which would turn -0 into 0."""
    if is_float(m.dtype) and not fast_math(m):
        return bits_are("c", 0.0)(m)
    return equals("c", 0)(m)


def _lowest(m: Match) -> bool:
    return all_are("c", lambda a: a == (np.iinfo(a.dtype).min if is_integer(a.dtype) else -np.inf))(m)


def _highest(m: Match) -> bool:
    return all_are("c", lambda a: a == (np.iinfo(a.dtype).max if is_integer(a.dtype) else np.inf))(m)


def neutral(name: str, kind: type, *when: Condition) -> Rule:
    """`kind(x, c)` is x where the conditions hold and nothing is broadcast."""
    return Rule(name, op(kind)(X, C), X, when=(keeps_type("x"), *when))


NEUTRAL: tuple[Rule, ...] = (
    neutral("AddZerosOnRhs", Add, _adds_nothing),
    neutral("SubZerosOnRhs", Sub, _takes_nothing),
    neutral("MulOnesOnRhs", Mul, equals("c", 1)),
    neutral("DivOnesOnRhs", Div, equals("c", 1)),
    neutral("PowOnesOnRhs", Pow, equals("c", 1)),
    neutral("AndTrueOnRhs", And, _TRUE),
    neutral("OrFalseOnRhs", Or, _FALSE),
    neutral("XorFalseOnRhs", Xor, _FALSE),
    neutral("BitwiseAndOnesOnRhs", BitwiseAnd, all_are("c", lambda a: ~a == 0)),
    neutral("BitwiseOrZerosOnRhs", BitwiseOr, equals("c", 0)),
    neutral("BitwiseXorZerosOnRhs", BitwiseXor, equals("c", 0)),
    neutral("BitShiftZerosOnRhs", BitShift, equals("c", 0)),
    neutral("MaxLowestOnRhs", Max, _lowest),
    neutral("MinHighestOnRhs", Min, _highest),
    Rule("MaxLowestOnLhs", op(Max)(C, X), X, when=(keeps_type("x"), _lowest)),
    Rule("MinHighestOnLhs", op(Min)(C, X), X, when=(keeps_type("x"), _highest)),
    Rule("XorTrueOnRhs", op(Xor)(X, C), op(Not)(X), when=(keeps_type("x"), _TRUE)),
)


def _filled(number: int) -> Result:
    """A constant of the root's type with one number for all elements, where the shape is known and small."""

    def result(m: Match) -> Value | None:
        shape = static_shape(m.result.type)
        if shape is None or math.prod(shape) > LARGEST_SPLAT:
            return None
        return m.constant(np.full(shape, number, m.dtype))

    return result


def absorbing(name: str, kind: type, number: int, *when: Condition) -> Rule:
    """`kind(x, c)` is all `number` where the conditions hold."""
    return Rule(name, op(kind)(X, C), _filled(number), when=when)


ABSORBING: tuple[Rule, ...] = (
    absorbing("MulZerosOnRhs", Mul, 0, is_whole, equals("c", 0)),
    absorbing("AndFalseOnRhs", And, 0, _FALSE),
    absorbing("OrTrueOnRhs", Or, 1, _TRUE),
    absorbing("BitwiseAndZerosOnRhs", BitwiseAnd, 0, equals("c", 0)),
    absorbing("BitwiseOrOnesOnRhs", BitwiseOr, -1, lambda m: m.dtype.kind == "i", equals("c", -1)),
    Rule("SubOfItself", op(Sub)(X, X), _filled(0), when=(is_whole,)),
    Rule("BitwiseXorOfItself", op(BitwiseXor)(X, X), _filled(0)),
    Rule("XorOfItself", op(Xor)(X, X), _filled(0), when=(is_truth,)),
)

_REPEATS = (And, Or, BitwiseAnd, BitwiseOr, Max, Min)
ITSELF: tuple[Rule, ...] = tuple(Rule(f"{kind.__name__}OfItself", op(kind)(X, X), X) for kind in _REPEATS)


# ---- where -------------------------------------------------------------------------------------------------------

_THEN, _ELSE = Variable("then"), Variable("else")
CHOICES: tuple[Rule, ...] = (
    Rule("WhereTrue", op(Where)(C, _THEN, _ELSE), _THEN, when=(_TRUE, keeps_type("then"))),
    Rule("WhereFalse", op(Where)(C, _THEN, _ELSE), _ELSE, when=(_FALSE, keeps_type("else"))),
    Rule("WhereOfItself", op(Where)(Variable("condition"), ANY, ANY), ANY, when=(keeps_type("any"),)),
)


# ---- ops that move nothing ---------------------------------------------------------------------------------------


def _first(m: Match) -> Value:
    value = m.node.inputs[0]
    assert value is not None
    return value


def _unmoved(m: Match) -> Value | None:
    """The input of an op that keeps elements in row-major order, where its shape stays."""
    return _first(m) if same_type(_first(m).type, m.result.type) else None


def _whole_slice(m: Match) -> Value | None:
    """The input of a slice that is as long on every axis, the steps being positive."""
    steps = m.node.inputs[4] if len(m.node.inputs) > 4 else None
    found = elements(steps)
    if steps is not None and (found is None or not np.all(found > 0)):
        return None
    return _unmoved(m)


def _no_padding(m: Match) -> Value | None:
    pads = elements(m.node.inputs[1])
    return _first(m) if pads is not None and not pads.any() else None


def _same_order(m: Match) -> Value | None:
    assert isinstance(m.node.op, Transpose)
    perm, type = m.node.op.perm, tensor_type(_first(m))
    rank = type.rank if perm is None else len(perm)
    if rank is None:
        return None
    order = tuple(reversed(range(rank))) if perm is None else perm
    return _first(m) if order == tuple(range(rank)) else None


def _only_one(m: Match) -> Value | None:
    return _first(m) if len(m.node.inputs) == 1 else None


def _only_part(m: Match) -> Value | None:
    return _first(m) if len(m.node.outputs) == 1 and isinstance(m.node.op, Split) and _unmoved(m) else None


def _unlimited(m: Match) -> Value | None:
    return _first(m) if all(value is None for value in m.node.inputs[1:]) else None


def _nothing_dropped(m: Match) -> Value | None:
    """The input of a Dropout that is not in training, where nobody asks what was kept."""
    training = m.node.inputs[2] if len(m.node.inputs) > 2 else None
    found = elements(training)
    if training is not None and (found is None or found.size != 1 or found.any()):
        return None
    return _first(m) if not any(m.rewriter.uses(value) for value in m.node.outputs[1:]) else None


def _same_dtype(m: Match) -> Value | None:
    return _first(m) if tensor_type(_first(m)).dtype == m.dtype else None


def _known_cast(m: Match) -> Value:
    """CastLike as a Cast, which does not ask for the second input."""
    assert isinstance(m.node.op, CastLike)
    return m.add(Cast(m.dtype, m.node.op.saturate, m.node.op.round_mode), _first(m))


def _single_elements(m: Match) -> Value | None:
    """A reduction of groups of one element; a sum of one float may turn -0 into 0."""
    if isinstance(m.node.op, (ReduceSum, ReduceProd, ReduceMean)) and not is_integer(m.dtype):
        return None
    return _unmoved(m)


UNMOVED: tuple[NodeRule, ...] = (
    NodeRule("RemoveIdentity", (Identity,), _first),
    NodeRule("CastLikeToCast", (CastLike,), _known_cast),
    NodeRule("CastToItself", (Cast,), _same_dtype),
    NodeRule("SameShape", (Reshaping, Expand, Tile), _unmoved),
    NodeRule("SliceOfAll", (Slice,), _whole_slice),
    NodeRule("PadWithNothing", (Pad,), _no_padding),
    NodeRule("TransposeOfNothing", (Transpose,), _same_order),
    NodeRule("OnlyOneOperand", (Concat, Sum, Mean, Max, Min), _only_one),
    NodeRule("SplitIntoOne", (Split,), _only_part),
    NodeRule("DropoutOfNothing", (Dropout,), _nothing_dropped),
    NodeRule("ClipWithoutLimits", (Clip,), _unlimited),
    NodeRule("ReduceSingleElements", (ReduceMax, ReduceMin, ReduceSum, ReduceProd, ReduceMean), _single_elements),
)


def _lossless(source: np.dtype, target: np.dtype) -> bool:
    """Whether every number of one type is one of the other, bit patterns of NaN aside."""
    if BOOL in (source, target):
        return source == BOOL and target.kind in "iufb"
    if source.kind not in "iuf" or target.kind not in "iuf":
        return False
    wide_integer = source.kind in "iu" and source.itemsize == 8
    return np.can_cast(source, target, "safe") and not (wide_integer and target.kind == "f")


def _skip_widening(m: Match) -> Value | None:
    """A cast of a lossless cast, as one cast."""
    inner = maker(_first(m))
    if inner is None or not isinstance(inner.op, Cast):
        return None
    source = inner.inputs[0]
    if not _lossless(tensor_type(source).dtype, tensor_type(_first(m)).dtype) or m.dtype.kind not in "iufb":
        return None
    return m.add(m.node.op, source)


CASTS: tuple[NodeRule, ...] = (NodeRule("CastOfWideningCast", (Cast,), _skip_widening),)

RULES: tuple[AnyRule, ...] = (*NEUTRAL, *ABSORBING, *ITSELF, *CHOICES, *UNMOVED, *CASTS)
