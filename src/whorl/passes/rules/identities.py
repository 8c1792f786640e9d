"""Ops that change nothing, or that give the same for all operands.

What is neutral, absorbing or an identity the op says itself. Signed zeros and NaN count: `x + 0` is not `x` where x is
-0, `x + -0` is; `x * 0` is 0 of integers only.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from whorl.ir.dtypes import BOOL
from whorl.ir.graph import REGISTRY, Op, Value
from whorl.ops.core.base import Elementwise
from whorl.ops.elementwise.arithmetic import Max, Min
from whorl.ops.elementwise.casting import Cast, CastLike
from whorl.ops.elementwise.comparison import Where
from whorl.ops.elementwise.logic import Not, Xor
from whorl.ops.random.distributions import Dropout
from whorl.passes.rules.conditions import (
    bits_are,
    elements,
    equals,
    fast_math,
    is_truth,
    is_whole,
    preserves_type,
    same_type,
    static_shape,
)
from whorl.passes.rules.pattern import ANY, AnyRule, C, Match, NodeRule, Rule, Variable, X, maker, op, tensor_type

MAX_SPLAT = 1 << 16
"""Elements up to which a result that is all zeros or ones becomes a constant."""
_TRUE, _FALSE = equals("c", 1), equals("c", 0)


def _arithmetic(m: Match) -> Elementwise:
    assert isinstance(m.node.op, Elementwise)
    return m.node.op


def _is_neutral(m: Match) -> bool:
    """c is the neutral number of the op; where last bits may change, either zero is."""
    number = _arithmetic(m).neutral(m.dtype)
    if number is None:
        return False
    return equals("c", number)(m) if fast_math(m) else bits_are("c", number)(m)


def _is_absorbing(m: Match) -> bool:
    number = _arithmetic(m).absorbing(m.dtype)
    return number is not None and equals("c", number)(m)


def _splat(m: Match, number: float) -> Value | None:
    """A constant of the root's type with one number for all elements, where the shape is known and small."""
    shape = static_shape(m.result.type)
    if shape is None or math.prod(shape) > MAX_SPLAT:
        return None
    return m.constant(np.full(shape, number, m.dtype))


def _absorbed(m: Match) -> Value | None:
    number = _arithmetic(m).absorbing(m.dtype)
    return None if number is None else _splat(m, number)


def _has_exact_zero(m: Match) -> bool:
    """The root gives integers or bools: x - x of floats is NaN for infinities."""
    return is_whole(m) or is_truth(m)


def _elementwise_rules() -> Iterator[Rule]:
    """The rules of every op with a neutral or absorbing number, or that two equal operands decide."""
    for kind in REGISTRY.values():
        if not issubclass(kind, Elementwise):
            continue
        f, name = op(kind), kind.__name__
        if kind.neutral is not Elementwise.neutral:
            yield Rule(f"{name}NeutralOnRhs", f(X, C), X, when=(preserves_type("x"), _is_neutral))
        if kind.absorbing is not Elementwise.absorbing:
            yield Rule(f"{name}AbsorbingOnRhs", f(X, C), _absorbed, when=(_is_absorbing,))
        if kind.idempotent:
            yield Rule(f"{name}OfItself", f(X, X), X)
        if kind.cancels:
            yield Rule(f"{name}OfItself", f(X, X), lambda m: _splat(m, 0), when=(_has_exact_zero,))


ELEMENTWISE: tuple[Rule, ...] = (
    *_elementwise_rules(),
    Rule("MaxNeutralOnLhs", op(Max)(C, X), X, when=(preserves_type("x"), _is_neutral)),
    Rule("MinNeutralOnLhs", op(Min)(C, X), X, when=(preserves_type("x"), _is_neutral)),
    Rule("XorTrueOnRhs", op(Xor)(X, C), op(Not)(X), when=(preserves_type("x"), _TRUE)),
)

# ---- where -------------------------------------------------------------------------------------------------------

_THEN, _ELSE = Variable("then"), Variable("else")
CHOICES: tuple[Rule, ...] = (
    Rule("WhereTrue", op(Where)(C, _THEN, _ELSE), _THEN, when=(_TRUE, preserves_type("then"))),
    Rule("WhereFalse", op(Where)(C, _THEN, _ELSE), _ELSE, when=(_FALSE, preserves_type("else"))),
    Rule("WhereOfItself", op(Where)(Variable("condition"), ANY, ANY), ANY, when=(preserves_type("any"),)),
)


# ---- any op ------------------------------------------------------------------------------------------------------


def _first(m: Match) -> Value:
    value = m.node.inputs[0]
    assert value is not None
    return value


def _is_first(m: Match) -> Value | None:
    """The first input, where the op says that its result is this very value."""
    return _first(m) if m.node.inputs and m.node.op.is_identity(m.node.inputs, m.node.outputs) else None


def _has_first_type(m: Match) -> Value | None:
    """The first input of an op that moves no element while the shape stays the same."""
    if not m.node.inputs or not m.node.op.preserves_order(m.node.inputs, m.node.outputs):
        return None
    return _first(m) if same_type(_first(m).type, m.result.type) else None


def _without_training(m: Match) -> Value | None:
    """The input of a Dropout that does not train and whose mask is not used."""
    training = m.node.inputs[2] if len(m.node.inputs) > 2 else None
    flag = elements(training)
    if training is not None and (flag is None or flag.size != 1 or flag.any()):
        return None
    return _first(m) if not any(m.rewriter.uses(value) for value in m.node.outputs[1:]) else None


def _known_cast(m: Match) -> Value:
    """CastLike as a Cast, which has no second input."""
    assert isinstance(m.node.op, CastLike)
    return m.add(Cast(m.dtype, m.node.op.saturate, m.node.op.round_mode), _first(m))


UNMOVED: tuple[NodeRule, ...] = (
    NodeRule("RemoveIdentity", (Op,), _is_first),
    NodeRule("RemoveUnmoved", (Op,), _has_first_type),
    NodeRule("CastLikeToCast", (CastLike,), _known_cast),
    NodeRule("DropoutWithoutTraining", (Dropout,), _without_training),
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

RULES: tuple[AnyRule, ...] = (*ELEMENTWISE, *CHOICES, *UNMOVED, *CASTS)
