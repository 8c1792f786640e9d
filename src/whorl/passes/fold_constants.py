"""Constant folding: nodes of constants are computed by the op's own `run`, large ones when they are read.

At once, each step of a chain of large constants would be in memory. A node that fails stays: it may be in a branch that
is never taken, and is an error only where a run reaches it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from whorl.errors import WhorlError
from whorl.ir.build import Builder
from whorl.ir.constants import Constant, as_array
from whorl.ir.dtypes import BOOL, INT32, INT64, STRING
from whorl.ir.elements.base import Elements, elements_of
from whorl.ir.elements.mapped import SMALL
from whorl.ir.graph import Module, Node, Op, Value, as_types, as_values
from whorl.ir.rewrite import rewrite
from whorl.ir.types import KNOWN_LIMIT, AnyShape, Known, TensorType
from whorl.passes.context import Context, PassOptions

LARGE = 1 << 20
"""Bytes of a result that is computed at once whatever it is."""
MOST_READ = 1 << 30
"""Elements that are computed one after the other for a result of few elements."""
MAX_DEPTH = 150
"""Computations that may wait for each other before they are done."""
FAILURES = (WhorlError, ArithmeticError, ValueError, TypeError, LookupError, AttributeError, MemoryError, RuntimeError)
"""What an op may raise that refuses its inputs."""


def fold_constants(module: Module, context: Context) -> None:
    """Fold in every region. A node that fails stays, to fail when it runs; the report says why."""

    def visit(node: Node, build: Builder) -> Sequence[Value | None] | None:
        return fold_node(node, build, context)

    rewrite(module.main, context.inference, visit)


def fold_node(node: Node, build: Builder, context: Context) -> Sequence[Value | None] | None:
    """The constants that a node's outputs are, or None where they are not known."""
    op = node.op
    if isinstance(op, Constant) or node.regions or not node.outputs:
        return None
    inputs = [_constant(value) for value in node.inputs]
    if all(x is not None or value is None for x, value in zip(inputs, node.inputs, strict=True)):
        if not all(isinstance(value.type, TensorType) for value in node.outputs):
            context.report.skip(op, "the result is no tensor")
            return None
        results = evaluate(op, inputs, context)
    else:
        results = _inferred(node)
    if results is None or not context.may_edit("fold_constants"):
        return None
    context.report.fold(op, *operand_sizes(inputs))
    return [build.constant(result, value.name) for result, value in zip(results, node.outputs, strict=False)]


def operand_sizes(inputs: Sequence[Any]) -> tuple[int, int]:
    """How many constants are given, and how many elements they have together."""
    sizes = [math.prod(x.shape) for x in inputs if x is not None]
    return len(sizes), sum(sizes)


def _constant(value: Value | None) -> Any:
    """What the constant holds that a value is; None where the value is computed at run time."""
    if value is not None and isinstance(value.owner, Node) and isinstance(value.owner.op, Constant):
        return value.owner.op.value
    return None


def _inferred(node: Node) -> list[np.ndarray] | None:
    """What inference knows of all outputs, though not of all inputs: the shape of a tensor, say."""
    if not node.op.pure or any(value.known is None for value in node.outputs):
        return None
    results = [elements_known(value) for value in node.outputs]
    return None if any(result is None for result in results) else [x for x in results if x is not None]


def elements_known(value: Value) -> np.ndarray | None:
    """The elements that inference knows of an integer or bool tensor, all of them numbers."""
    known, type = value.known, value.type
    if known is None or not isinstance(type, TensorType) or type.dtype not in (INT64, INT32, BOOL):
        return None
    elements = known.reshape(-1).tolist()
    kind = bool if type.dtype == BOOL else int
    if not all(_kind(element) is kind for element in elements) or not _fit(elements, type.dtype):
        return None
    return np.array(elements, type.dtype).reshape(known.shape)


def _kind(element: object) -> type[object]:
    return type(element)


def _fit(elements: list[int], dtype: np.dtype) -> bool:
    """Whether the element type holds what inference, which has no overflow, computed."""
    bound = 1 << (8 * dtype.itemsize - 1)
    return dtype == BOOL or all(-bound <= element < bound for element in elements)


def evaluate(op: Op, inputs: Sequence[Any], context: Context) -> Sequence[Any] | None:
    """The outputs of an op for constants (None for an omitted input): arrays, or elements computed when read.

    None where the op is random, disabled or fails, or its result is no tensor or too large; the report says which.
    """
    try:
        with np.errstate(all="ignore"):
            return computed(op, inputs, result_bytes(op, inputs), context)
    except FAILURES as error:
        context.report.fails(op, error)
        return None


def computed(op: Op, inputs: Sequence[Any], size: int, context: Context) -> Sequence[Any] | None:
    """As `evaluate`, but a failure is raised, one of FAILURES, and NumPy may warn. `size`: bytes of the result."""
    options = context.options
    if not op.pure or options.disabled or options.expansion_bound is not None:
        reason = _objection(op, inputs, size, options)
        if reason:
            context.report.skip(op, reason)
            return None
    is_small = size <= LARGE
    for x in inputs:
        if x is not None and (type(x) is not np.ndarray or x.size > SMALL):
            is_small = False
    if is_small:
        result = op.run(*inputs)
        if type(result) is np.ndarray:
            return (result,)
    else:
        lazy = op.lazily(*(None if x is None else elements_of(x) for x in inputs))
        if lazy is not None:
            materialised = [_materialise(each, context) for each in lazy]
            if len(materialised) == 1:
                context.origins.note(op, inputs, materialised[0])
            return materialised
        if size > context.pool.budget:
            context.report.skip(op, "the result is larger than the memory budget")
            return None
        result = op.run(*(None if x is None else as_array(x) for x in inputs))
    results = as_values(result)
    if not all(isinstance(result, np.ndarray) for result in results):
        context.report.skip(op, "the result is no tensor")
        return None
    if is_small:
        return results
    pooled = [context.pool.keep(result) for result in results]
    if len(pooled) == 1:
        context.origins.note(op, inputs, pooled[0])
    return pooled


def _objection(op: Op, inputs: Sequence[Any], size: int, options: PassOptions) -> str:
    """Why an op is not folded; empty where nothing speaks against it."""
    if not op.pure:
        return "gives other values each time"
    if op.name in options.disabled:
        return "disabled"
    bound = options.expansion_bound
    if bound is not None and size > bound * sum(_bytes(x.dtype, x.shape) for x in inputs if x is not None):
        return "the result is larger than the expansion bound allows"
    return ""


def _materialise(elements: Elements, context: Context) -> Any:
    """Elements computed at once where they are few, or wait for too many others."""
    if elements.size <= SMALL:
        if any(x.size > MOST_READ for x in elements.inputs):
            raise WhorlError(f"it reads more than {MOST_READ} elements")
        return elements.numpy()
    return context.pool.evaluate(elements) if elements.depth > MAX_DEPTH else elements


def result_bytes(op: Op, inputs: Sequence[Any]) -> int:
    """The bytes that the outputs take, as far as inference tells; raises what inference refuses."""
    facts = [None if x is None else _fact(x) for x in inputs]
    types = [type for type in as_types(op.infer(*facts)) if isinstance(type, TensorType)]
    if not types:
        raise TypeError("the result is no tensor")
    return sum(_bytes(type.dtype, () if isinstance(type.shape, AnyShape) else type.shape) for type in types)


def _fact(value: Any) -> Known:
    shape = tuple(value.shape)
    small = len(shape) <= 1 and math.prod(shape) <= KNOWN_LIMIT and value.dtype != STRING
    return Known(TensorType(value.dtype, shape), as_array(value).astype(object) if small else None)


def _bytes(dtype: np.dtype, shape: Sequence[Any]) -> int:
    return math.prod(dim for dim in shape if isinstance(dim, int)) * dtype.itemsize
