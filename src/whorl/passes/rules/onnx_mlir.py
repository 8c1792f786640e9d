"""The rules of onnx-mlir's constant propagation, under the names it gives them, and the pass that applies them alone.

Which nodes fold, and how sums and products of floats are regrouped, is as there; what a fold computes is what the op
computes at run time: narrow results are rounded after each op, integers wrap.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from whorl.ir.constants import as_array
from whorl.ir.dtypes import STRING, is_float, is_integer
from whorl.ir.graph import Module, Value
from whorl.ops import (
    comparison,
    elementwise,
    filling,
    functions,
    indexing,
    linear,
    logic,
    movement,
    nonlinear,
    padding,
    powers,
    reductions,
    scattering,
    selection,
    shapes,
)
from whorl.ops.casting import Cast
from whorl.ops.control import If, known_bool
from whorl.passes.context import Context, PassOptions
from whorl.passes.fold_constants import evaluate
from whorl.passes.remove_dead import remove_dead
from whorl.passes.rewriting import apply_rules
from whorl.passes.rules.arithmetic import negative, regroupings
from whorl.passes.rules.conditions import elements, equals, is_not_scalar, keeps_type, static_shape
from whorl.passes.rules.pattern import (
    AnyRule,
    C,
    Condition,
    Match,
    NodeRule,
    Result,
    Rule,
    RuleSet,
    X,
    constant_of,
    is_constant,
    op,
    tensor_type,
)

MAX_ROUNDS = 20
_ELEMENTWISE = {
    "AddConstProp": elementwise.Add,
    "SubConstProp": elementwise.Sub,
    "MulConstProp": elementwise.Mul,
    "DivConstProp": elementwise.Div,
    "BitwiseAndConstPropPattern": logic.BitwiseAnd,
    "BitwiseOrConstPropPattern": logic.BitwiseOr,
    "AndConstPropPattern": logic.And,
    "OrConstPropPattern": logic.Or,
    "XorConstPropPattern": logic.Xor,
    "EqualConstProp": comparison.Equal,
    "LessConstPropPattern": comparison.Less,
    "GreaterConstPropPattern": comparison.Greater,
    "LessOrEqualConstPropPattern": comparison.LessOrEqual,
    "GreaterOrEqualConstPropPattern": comparison.GreaterOrEqual,
    "ModConstPropPattern": elementwise.Mod,
    "MaxConstProp": elementwise.Max,
    "MinConstProp": elementwise.Min,
    "SumConstProp": elementwise.Sum,
    "WhereConstProp": comparison.Where,
    "ClipConstProp": elementwise.Clip,
    "MatMulOfConsts": linear.MatMul,
    "MatMulIntegerOfConsts": linear.MatMulInteger,
    "GemmConstProp": linear.Gemm,
    "ExpandofConst": shapes.Expand,
}
"""Folded where the result is within the expansion bound."""
_UNARY = {
    "BitwiseNotofConst": logic.BitwiseNot,
    "AbsofConst": elementwise.Abs,
    "CeilofConst": elementwise.Ceil,
    "CosofConst": functions.Cos,
    "ErfofConst": functions.Erf,
    "ExpofConst": functions.Exp,
    "FloorofConst": elementwise.Floor,
    "LogofConst": functions.Log,
    "NegofConst": elementwise.Neg,
    "NotofConst": logic.Not,
    "SinofConst": functions.Sin,
    "ReciprocalofConst": elementwise.Reciprocal,
    "ReciprocalOfConst": elementwise.Reciprocal,
    "RoundofConst": elementwise.Round,
    "SqrtofConst": functions.Sqrt,
    "ReluofConst": nonlinear.Relu,
    "ReduceSumConstProp": reductions.ReduceSum,
    "ReduceProdConstProp": reductions.ReduceProd,
    "ReduceMinConstProp": reductions.ReduceMin,
    "ReduceMaxConstProp": reductions.ReduceMax,
    "ReduceMeanConstProp": reductions.ReduceMean,
    "TransposeofConst": movement.Transpose,
    "UnsqueezeofConst": shapes.Unsqueeze,
    "SqueezeofConst": shapes.Squeeze,
    "SliceofConst": movement.Slice,
    "ConcatofConst": movement.Concat,
    "SplitOfConst": movement.Split,
    "GatherofConst": indexing.Gather,
    "ReshapeofConst": shapes.Reshape,
    "ConstantOfShapeofConst": filling.ConstantOfShape,
    "RangeConstProp": filling.Range,
    "NonZeroOfConst": selection.NonZero,
}
"""Folded whatever the size of the result."""


def propagate_constants(
    module: Module, options: PassOptions | None = None, *, round_fp_to_int: bool = False
) -> Context:
    """Apply the rules until nothing changes, and remove what nobody reads. `disabled` of the options names rules."""
    chosen = options or PassOptions()
    context = Context(module, replace(chosen, expansion_bound=None))
    rules = RuleSet(rules_for(chosen.expansion_bound, round_fp_to_int), chosen.disabled)
    for _ in range(MAX_ROUNDS):
        before = context.edits
        apply_rules(module, context, rules, None)
        remove_dead(module, context)
        if context.edits == before:
            break
    return context


def rules_for(bound: float | None, round_fp_to_int: bool = False) -> list[AnyRule]:
    """The rules for an expansion bound (None: any expansion)."""
    fits = _within(bound)
    rules: list[AnyRule] = [*_regroupings(), *_neutral(), *_zero_products()]
    rules += (NodeRule(name, (kind,), _fold(fits)) for name, kind in _ELEMENTWISE.items())
    rules += (NodeRule(name, (kind,), _fold()) for name, kind in _UNARY.items())
    rules.append(NodeRule("PowConstProp", (powers.Pow,), _fold(fits, _one_dtype)))
    rules.append(NodeRule("PadOfConst", (padding.Pad,), _fold(fits, _pads_with_a_constant)))
    rules.append(NodeRule("ScatterNDOfConst", (scattering.ScatterND,), _fold(_overwrites)))
    rules.append(NodeRule("CastofConst", (Cast,), _cast(round_fp_to_int)))
    rules.append(NodeRule("IfOfConst", (If,), _taken_branch))
    return rules


# ---- folds -------------------------------------------------------------------------------------------------------


def _fold(*when: Condition) -> Result:
    """The constants that a node of constants gives, where the conditions hold."""

    def result(m: Match) -> Sequence[Value] | None:
        held = [constant_of(value) for value in m.node.inputs]
        if not held or any(c is None and v is not None for c, v in zip(held, m.node.inputs, strict=True)):
            return None
        inputs = [None if c is None else c.value for c in held]
        if any(x is not None and x.dtype == STRING for x in inputs) or not all(holds(m) for holds in when):
            return None
        found = evaluate(m.node.op, inputs, m.rewriter.context)
        if found is None:
            return None
        m.rewriter.context.report.fold(m.node.op, [math.prod(x.shape) for x in inputs if x is not None])
        return [m.constant(value) for value in found[: len(m.node.outputs)]]

    return result


def _within(bound: float | None) -> Condition:
    """The result has at most so many times the bytes of the operands."""

    def holds(m: Match) -> bool:
        size = _bytes(m.result)
        return bound is None or bound < 0 or (size is not None and size <= bound * sum(map(_given, m.node.inputs)))

    return holds


def _given(value: Value | None) -> int:
    return 0 if value is None else _bytes(value) or 0


def _bytes(value: Value) -> int | None:
    shape = static_shape(value.type)
    return None if shape is None else math.prod(shape) * tensor_type(value).dtype.itemsize


def _one_dtype(m: Match) -> bool:
    return len({tensor_type(value).dtype for value in m.node.inputs if value is not None}) == 1


def _pads_with_a_constant(m: Match) -> bool:
    assert isinstance(m.node.op, padding.Pad)
    return m.node.op.mode == "constant" and (len(m.node.inputs) < 4 or m.node.inputs[3] is None)


def _overwrites(m: Match) -> bool:
    assert isinstance(m.node.op, scattering.ScatterND)
    return m.node.op.reduction == "none"


def _cast(rounds: bool) -> Result:
    """A cast; a float that no integer of the target type holds becomes the nearest one that there is, NaN 0."""

    def result(m: Match) -> Sequence[Value] | None:
        held = constant_of(m.node.inputs[0])
        if held is None or STRING in (held.value.dtype, m.dtype):
            return None
        if is_float(held.value.dtype) and is_integer(m.dtype):
            m.rewriter.context.report.fold(m.node.op, [math.prod(held.value.shape)])
            return [m.constant(nearest_integers(as_array(held.value), m.dtype, rounds))]
        return _fold()(m)  # type: ignore[return-value]

    return result


def nearest_integers(array: np.ndarray, dtype: np.dtype, rounds: bool) -> np.ndarray:
    """Floats truncated, or rounded with halves to even, and kept within the range of an integer type."""
    wide = array.astype(np.float64)
    whole = np.rint(wide) if rounds else np.trunc(wide)
    info = np.iinfo(dtype) if dtype.kind in "iu" else None
    low, high = (info.min, info.max) if info is not None else _packed_range(dtype)
    result = np.zeros(array.shape, np.int64 if low < 0 else np.uint64)
    inside = (whole >= low) & (whole < high + 1.0)
    result[inside] = whole[inside].astype(result.dtype)
    result[whole >= high + 1.0] = high
    result[whole < low] = low
    return np.minimum(result, result.dtype.type(high)).astype(dtype)


def _packed_range(dtype: np.dtype) -> tuple[int, int]:
    bits = int(dtype.name[-1])
    return (-(1 << bits - 1), (1 << bits - 1) - 1) if dtype.name.startswith("int") else (0, (1 << bits) - 1)


def _taken_branch(m: Match) -> Sequence[Value] | None:
    """The nodes of the branch that a constant condition takes."""
    condition, *captured = m.node.inputs
    taken = None if condition is None or not is_constant(condition) else known_bool(condition)
    if taken is None:
        return None
    return m.inline(m.node.regions[0 if taken else 1], captured)


# ---- algebra -----------------------------------------------------------------------------------------------------


def _regroupings() -> Iterator[AnyRule]:
    """Constants through sums and products, floats too; a scalar is left where it is cheap."""
    guards = ((is_not_scalar("x"), is_not_scalar("c")), (is_not_scalar("y"), is_not_scalar("c")))
    for kind in (elementwise.Add, elementwise.Mul):
        yield from regroupings(kind, (), guards)
    sub = op(elementwise.Sub)
    yield Rule("SubConstToNeg", sub(X, C), lambda m: m.add(elementwise.Add(), m["x"], negative(m, "c")), when=(_dense,))


def _dense(m: Match) -> bool:
    return tensor_type(m["c"]).dtype != STRING


def _neutral() -> Iterator[AnyRule]:
    for name, kind, number in (
        ("AddZerosOnRhs", elementwise.Add, 0),
        ("SubZerosOnRhs", elementwise.Sub, 0),
        ("MulOnesOnRhs", elementwise.Mul, 1),
        ("DivOnesOnRhs", elementwise.Div, 1),
    ):
        yield Rule(name, op(kind)(X, C), X, when=(keeps_type("x"), equals("c", number)))


def _zero_products() -> Iterator[AnyRule]:
    """Products of integers with a matrix of zeros, or of its zero point."""
    for k, side in enumerate(("Lhs", "Rhs")):
        yield NodeRule(f"MatMulZerosOn{side}", (linear.MatMul,), _zeros(k))
        yield NodeRule(f"MatMulIntegerConstZero{side}", (linear.MatMulInteger,), _zeros(k))


def _zeros(k: int) -> Result:
    """Zeros in the place of a product whose k-th operand is all zero."""

    def result(m: Match) -> Value | None:
        shape = static_shape(m.result.type)
        zero = m.node.inputs[2 + k] if len(m.node.inputs) > 2 + k else None
        if shape is None or not is_integer(m.dtype) or (zero is not None and not is_constant(zero)):
            return None
        matrix, point = elements(m.node.inputs[k]), elements(zero)
        if matrix is None or (type(m.node.op) is linear.MatMul and is_constant(m.node.inputs[1 - k])):
            return None
        if point is not None and k == 0 and point.ndim == 1 and point.size > 1 and matrix.ndim > 1:
            point = point.reshape(-1, 1)
        if not np.all(matrix == (0 if point is None else point)):
            return None
        return m.constant(np.zeros(shape, m.dtype))

    return result
