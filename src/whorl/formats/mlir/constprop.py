"""Constant propagation as onnx-mlir does it: which ops it folds, under which names, and how it regroups constants."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import ml_dtypes
import numpy as np
from msgspec import Struct

from whorl.ir.build import Builder
from whorl.ir.constants import Constant, as_array
from whorl.ir.dtypes import INTEGERS, SIGNED, bits, is_float, is_integer
from whorl.ir.graph import Module, Node, Op, Value
from whorl.ir.rewrite import rewrite
from whorl.ir.types import TensorType, Type
from whorl.ops.control.flow import If
from whorl.ops.elementwise.arithmetic import Add, Clip, Div, Mul, Sub
from whorl.ops.elementwise.casting import Cast
from whorl.ops.linear.products import MatMul, MatMulInteger
from whorl.ops.movement.filling import Range
from whorl.ops.movement.padding import Pad
from whorl.ops.movement.scattering import ScatterND
from whorl.passes.context import Context, PassOptions
from whorl.passes.dce import dce
from whorl.passes.fold_constants import evaluate, operand_sizes
from whorl.passes.push_constants import push_constants
from whorl.passes.report import Report
from whorl.passes.rewriting import apply_rules
from whorl.passes.rules.arithmetic import negative, regroupings
from whorl.passes.rules.conditions import equals, is_not_scalar, preserves_type, static_shape
from whorl.passes.rules.pattern import AnyRule, C, Match, NodeRule, Result, Rule, RuleSet, X, op
from whorl.passes.simplify_if import simplify_if

MAX_ROUNDS = 20
MAX_BYTES = 1 << 30
"""A folded constant has at most so many bytes."""


class ConstpropOptions(Struct, frozen=True):
    """onnx-mlir's options: the bytes of a result as a multiple of its operands', negative for any; patterns to leave.

    `round_to_int`: a cast of floats to integers rounds to the nearest, half to even, instead of towards zero.
    """

    expansion_bound: int = -1
    disabled: frozenset[str] = frozenset()
    round_to_int: bool = False


def propagate_constants(module: Module, options: ConstpropOptions, declared: Mapping[str, Type]) -> Report:
    """Fold and regroup until nothing changes; returns what was folded.

    `declared` are the types that the text gives values, by name: the length of a range of floats is read off there.
    """
    bound = None if options.expansion_bound < 0 else float(options.expansion_bound)
    context = Context(module, PassOptions(fast_math=True, expansion_bound=bound, disabled=options.disabled))
    unbounded = Context(module, PassOptions(disabled=options.disabled), context.report)
    rules = RuleSet(RULES, options.disabled)

    def fold(node: Node, build: Builder, context: Context) -> Sequence[Value | None] | None:
        return _fold(node, build, context, unbounded, Manner(options, declared))

    for _ in range(MAX_ROUNDS):
        edits = context.edits
        apply_rules(module, context, rules, fold)
        _inline_branches(module, context)
        dce(module, context)
        if context.edits == edits:
            break
    return context.report


def _inline_branches(module: Module, context: Context) -> None:
    """Put the branch of a constant condition in the place of an If; constants go where they are read."""

    def visit(node: Node, build: Builder) -> Sequence[Value | None] | None:
        results = simplify_if(node, build, context) if isinstance(node.op, If) else None
        if results is None and node.regions:
            push_constants(node, context)
        return results

    rewrite(module.main, context.inference, visit)


# ---- folding -----------------------------------------------------------------------------------------------------


class Folding(Struct, frozen=True):
    """How an op is folded: the pattern's name, whether the expansion bound holds for it, and a further condition."""

    pattern: str
    bounded: bool = False
    when: Callable[[Node], bool] = lambda node: True


class Manner(Struct, frozen=True):
    """The options, and what the text says of types."""

    options: ConstpropOptions
    declared: Mapping[str, Type]


def _same_dtypes(node: Node) -> bool:
    first, second = (value.type for value in node.inputs if value is not None)
    return isinstance(first, TensorType) and isinstance(second, TensorType) and first.dtype == second.dtype


def _plain_padding(node: Node) -> bool:
    return isinstance(node.op, Pad) and node.op.mode == "constant" and len(node.inputs) < 4


def _plain_scatter(node: Node) -> bool:
    return isinstance(node.op, ScatterND) and node.op.reduction == "none"


def _numbers(node: Node) -> bool:
    """Equal compares numbers only."""
    type = node.inputs[0].type if node.inputs[0] is not None else None
    return isinstance(type, TensorType) and (is_integer(type.dtype) or is_float(type.dtype) or type.dtype == bool)


_BINARY = {
    **dict.fromkeys(("Add", "Sub", "Mul", "Div"), "ConstProp"),
    **dict.fromkeys(
        ("Mod", "And", "Or", "Xor", "BitwiseAnd", "BitwiseOr", "Less", "Greater", "LessOrEqual", "GreaterOrEqual"),
        "ConstPropPattern",
    ),
    **dict.fromkeys(("Max", "Min", "Sum", "Where", "Gemm"), "ConstProp"),
    **dict.fromkeys(("MatMul", "MatMulInteger"), "OfConsts"),
}
_FREE = {
    **dict.fromkeys(("ReduceSum", "ReduceProd", "ReduceMin", "ReduceMax", "ReduceMean", "Range"), "ConstProp"),
    **dict.fromkeys(
        ("Abs", "Ceil", "Cos", "Erf", "Exp", "Floor", "Log", "Neg", "Not", "BitwiseNot", "Sin", "Sigmoid", "Sqrt"),
        "ofConst",
    ),
    **dict.fromkeys(("Relu", "Reciprocal", "Round", "Cast", "Transpose", "ReverseSequence", "Unsqueeze"), "ofConst"),
    **dict.fromkeys(("Squeeze", "Slice", "Concat", "Gather", "Reshape", "ConstantOfShape"), "ofConst"),
}
FOLDINGS: dict[str, Folding] = {
    **{name: Folding(name + suffix, bounded=True) for name, suffix in _BINARY.items()},
    **{name: Folding(name + suffix) for name, suffix in _FREE.items()},
    "Equal": Folding("EqualConstProp", True, _numbers),
    "Pow": Folding("PowConstProp", True, _same_dtypes),
    "Clip": Folding("ClipConstProp", True),
    "Expand": Folding("ExpandofConst", True),
    "Pad": Folding("PadOfConst", True, _plain_padding),
    "NonZero": Folding("NonZeroOfConst"),
    "ScatterND": Folding("ScatterNDOfConst", False, _plain_scatter),
    "Split": Folding("SplitConstProp"),
}
"""The ops that onnx-mlir folds, by its names of the patterns."""
WIDE = frozenset(
    (
        "Cos",
        "Sin",
        "Erf",
        "Exp",
        "Log",
        "Sigmoid",
        "Pow",
        "Sum",
        "MatMul",
        "Gemm",
        "ReduceSum",
        "ReduceProd",
        "ReduceMean",
    )
)
"""The ops whose results depend on how many bits they are computed in."""


def _fold(node: Node, build: Builder, context: Context, unbounded: Context, manner: Manner) -> Sequence[Value] | None:
    """The constants that the outputs of a node are, where onnx-mlir folds it; None where it stays."""
    how = FOLDINGS.get(node.op.name)
    if how is None or not node.inputs or not all(value is None or _constant_of(value) for value in node.inputs):
        return None
    inputs = [None if value is None else _constant_of(value).value for value in node.inputs]  # type: ignore[union-attr]
    if not context.is_enabled(how.pattern) or not how.when(node):
        context.report.skip(node.op, "left as onnx-mlir leaves it")
        return None
    bound = context.options.expansion_bound if how.bounded else None
    operands = sum(math.prod(x.shape) * x.dtype.itemsize for x in inputs if x is not None)
    if _bytes_of(node) > (MAX_BYTES if bound is None else min(MAX_BYTES, bound * operands)):
        context.report.skip(node.op, "the result is too large")
        return None
    with np.errstate(all="ignore"):
        results = _special(node, inputs, manner)
    results = results or evaluate(node.op, inputs, context if how.bounded else unbounded)
    if results is None or not context.may_edit(how.pattern):
        return None
    context.report.fold(node.op, *operand_sizes(inputs))
    return [build.constant(result, value.name) for result, value in zip(results, node.outputs, strict=False)]


def _bytes_of(node: Node) -> int:
    """The bytes of what a node gives, as far as its types tell."""
    shapes = ((value.type, static_shape(value.type)) for value in node.outputs)
    return sum(
        math.prod(shape) * type.dtype.itemsize for type, shape in shapes if shape and isinstance(type, TensorType)
    )


def _constant_of(value: Value) -> Constant | None:
    owner = value.owner
    return owner.op if isinstance(owner, Node) and isinstance(owner.op, Constant) else None


def _special(node: Node, inputs: Sequence[object], manner: Manner) -> list[np.ndarray] | None:
    """What onnx-mlir computes in its own way; None where its way is that of a run."""
    type, wide = node.outputs[0].type, node.op.name in WIDE
    if not (wide or isinstance(node.op, (Clip, Div, Cast, Range))) or not isinstance(type, TensorType):
        return None
    arrays = [None if x is None else as_array(x) for x in inputs]  # type: ignore[arg-type]
    if wide:
        return _widened(node.op, arrays, type.dtype)
    match node.op:
        case Clip():
            return _clipped(arrays)
        case Div():
            return _divided(node.op, arrays)
        case Cast():
            return _cast(arrays, type.dtype, manner.options.round_to_int)
        case _:
            pass
    return _stepped(arrays, static_shape(manner.declared.get(node.outputs[0].name, type)))


def _widened(op: Op, arrays: Sequence[np.ndarray | None], dtype: np.dtype) -> list[np.ndarray] | None:
    """What an op of narrower floats gives in 64 bits, rounded once."""
    if not is_float(dtype) or dtype.itemsize > 4:
        return None
    wide = [x.astype(np.float64) if x is not None and is_float(x.dtype) else x for x in arrays]
    return [np.asarray(op.run(*wide)).astype(dtype)]


def _clipped(arrays: Sequence[np.ndarray | None]) -> list[np.ndarray]:
    """Between the limits; those that are left out are the largest and the lowest number of the type."""
    first = _required(arrays[0])
    limits = [*arrays[1:], None, None][:2]
    low, high = (limit if limit is not None else _limit(first.dtype, k) for k, limit in enumerate(limits))
    return [np.minimum(np.maximum(first, low), high).astype(first.dtype, copy=False)]


def _divided(op: Div, arrays: Sequence[np.ndarray | None]) -> list[np.ndarray] | None:
    """Integers divided by 0 stay as they are."""
    first, second = _required(arrays[0]), _required(arrays[1])
    if first.dtype not in INTEGERS or second.all():
        return None
    return [op.run(first, np.where(second == 0, second.dtype.type(1), second))]


def _cast(arrays: Sequence[np.ndarray | None], dtype: np.dtype, rounds: bool) -> list[np.ndarray] | None:
    first = _required(arrays[0])
    if not is_float(first.dtype) or not is_integer(dtype):
        return None
    return [_saturated(first.astype(np.float64), dtype, rounds)]


def _stepped(arrays: Sequence[np.ndarray | None], shape: tuple[int, ...] | None) -> list[np.ndarray] | None:
    """A range of floats, as long as its type says."""
    start, _, step = map(_required, arrays)
    if not shape or not is_float(start.dtype):
        return None
    steps = np.arange(shape[0], dtype=np.float64) * step.astype(np.float64)
    return [(start.astype(np.float64) + steps).astype(start.dtype)]


def _required(array: np.ndarray | None) -> np.ndarray:
    assert array is not None
    return array


def _saturated(array: np.ndarray, dtype: np.dtype, rounds: bool) -> np.ndarray:
    """Integers from floats: the nearest that the type has, 0 for NaN."""
    width, signed = bits(dtype), dtype in SIGNED
    low, high = (-(1 << (width - 1)), (1 << (width - 1)) - 1) if signed else (0, (1 << width) - 1)
    whole = np.rint(array) if rounds else np.trunc(array)
    numbers = [0 if x != x else low if x <= low else high if x >= high else int(x) for x in whole.reshape(-1).tolist()]
    return np.array(numbers, object).astype(np.int64 if signed else np.uint64).astype(dtype).reshape(array.shape)


def _limit(dtype: np.dtype, upper: int) -> np.ndarray:
    """The largest (or lowest) finite number of a type."""
    info = np.iinfo(dtype) if dtype.kind in "iu" else ml_dtypes.finfo(dtype)
    return np.asarray(info.max if upper else info.min, dtype)


# ---- rules -------------------------------------------------------------------------------------------------------


def _zeros(index: int) -> Result:
    """The product, of integers and of known shape, with a factor that is all zeros, or equal to its zero points."""

    def result(m: Match) -> Value | None:
        shape, values = static_shape(m.result.type), m.node.inputs
        factor, other = values[index], values[1 - index]
        point = values[index + 2] if len(values) > index + 2 else None
        if (
            shape is None
            or not is_integer(m.dtype)
            or factor is None
            or other is None
            or _constant_of(other) is not None
        ):
            return None
        constant, offset = _constant_of(factor), None if point is None else _constant_of(point)
        if constant is None or (point is not None and offset is None):
            return None
        points = np.zeros((), np.int8) if offset is None else as_array(offset.value)
        return m.constant(np.zeros(shape, m.dtype)) if _equals(as_array(constant.value), points, index == 0) else None

    return result


def _equals(factor: np.ndarray, points: np.ndarray, left: bool) -> bool:
    """Whether every element is its zero point; those of rank 1 are one for each row of the left factor."""
    if left and points.ndim == 1 and points.size > 1 and factor.ndim > 1:
        points = points.reshape(-1, 1)
    return bool(np.all(factor == points))


def _negated_sum(m: Match) -> Value:
    return m.add(Add(), m["x"], negative(m, "c"))


RULES: tuple[AnyRule, ...] = (
    Rule("AddZerosOnRhs", op(Add)(X, C), X, when=(preserves_type("x"), equals("c", 0))),
    Rule("SubZerosOnRhs", op(Sub)(X, C), X, when=(preserves_type("x"), equals("c", 0))),
    Rule("MulOnesOnRhs", op(Mul)(X, C), X, when=(preserves_type("x"), equals("c", 1))),
    Rule("DivOnesOnRhs", op(Div)(X, C), X, when=(preserves_type("x"), equals("c", 1))),
    *(
        rule
        for kind in (Add, Mul)
        for rule in regroupings(
            kind, (), ((is_not_scalar("x"), is_not_scalar("c")), (is_not_scalar("y"), is_not_scalar("c")))
        )
    ),
    Rule("SubConstToNeg", op(Sub)(X, C), _negated_sum),
    NodeRule("MatMulZerosOnLhs", (MatMul,), _zeros(0)),
    NodeRule("MatMulZerosOnRhs", (MatMul,), _zeros(1)),
    NodeRule("MatMulIntegerConstZeroLhs", (MatMulInteger,), _zeros(0)),
    NodeRule("MatMulIntegerConstZeroRhs", (MatMulInteger,), _zeros(1)),
)
"""The rewritings of sums and products, and what a factor of zeros gives."""
