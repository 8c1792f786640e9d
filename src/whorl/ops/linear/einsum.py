"""Einsum: the equation as terms of labels, and the sum of products it means."""

from __future__ import annotations

import functools
from collections.abc import Sequence

import numpy as np

from whorl.errors import RunError, TypeRuleError
from whorl.ir import dims
from whorl.ir.dims import UNKNOWN, Dim
from whorl.ir.dtypes import INTEGERS, PACKED_BITS
from whorl.ir.graph import NodeBuilder, Op, Value
from whorl.ir.intervals import Intervals
from whorl.ir.types import UNRANKED, AnyShape, Fact, Shape, TensorType, tensor
from whorl.ops.core.base import (
    COMPUTED_FLOATS,
    accumulator,
    broadcast_dim,
    check_types,
    require_dtype,
    same_dtype,
    widen,
)
from whorl.ops.core.writer import Writer
from whorl.ops.linear.einsum_decompose import Operand, contract, lengths_of

ELLIPSIS = "..."
_NUMBERS = (INTEGERS - frozenset(PACKED_BITS)) | COMPUTED_FLOATS
_MOST_LABELS = 52
"""NumPy's einsum numbers labels from 0 to 51."""

Term = tuple[str, ...]


@functools.lru_cache(maxsize=1024)
def parse(equation: str) -> tuple[tuple[Term, ...], Term]:
    """The terms of the operands and of the result, each a tuple of letters with at most one ellipsis.

    Without an arrow the result has the ellipsis, then every label that occurs once, in ASCII order.
    """
    left, arrow, right = equation.replace(" ", "").partition("->")
    terms = tuple(_term(text, equation) for text in left.split(","))
    labels = [label for term in terms for label in term]
    if not arrow:
        once = sorted(label for label in set(labels) if label != ELLIPSIS and labels.count(label) == 1)
        return terms, (*((ELLIPSIS,) if ELLIPSIS in labels else ()), *once)
    result = _term(right, equation)
    if len(set(result)) < len(result):
        raise TypeRuleError(f"equation {equation!r} repeats a label in its result")
    for label in result:
        if label not in labels and label != ELLIPSIS:
            raise TypeRuleError(f"equation {equation!r} has {label!r} in its result but in no operand")
    return terms, result


def _term(text: str, equation: str) -> Term:
    head, dots, tail = text.partition(ELLIPSIS)
    if not all(letter.isascii() and letter.isalpha() for letter in head + tail):
        raise TypeRuleError(f"equation {equation!r} has a term {text!r} that is not letters and one ellipsis")
    return (*head, *((ELLIPSIS,) if dots else ()), *tail)


def spread(term: Term, width: int) -> Term:
    """A term with its ellipsis written out as `width` labels, numbered from the last axis: ("...1", "...0")."""
    written: list[str] = []
    for label in term:
        written += [f"{ELLIPSIS}{k}" for k in reversed(range(width))] if label == ELLIPSIS else [label]
    return tuple(written)


def _width(term: Term, rank: int, position: int, equation: str) -> int:
    """The number of axes the ellipsis of an operand stands for."""
    named = sum(label != ELLIPSIS for label in term)
    if rank < named or (rank > named and ELLIPSIS not in term):
        raise TypeRuleError(f"operand {position} has rank {rank}, equation {equation!r} gives it {named} labels")
    return rank - named


def _is_clear(labels: Sequence[Term], operands: Sequence[Value]) -> bool:
    """Whether the lengths of each label are numbers above 0, or one that has a name, beside which 1 broadcasts."""
    names: dict[str, list[Dim]] = {}
    for term, x in zip(labels, operands, strict=True):
        for label, length in zip(term, lengths_of(x), strict=True):
            names.setdefault(label, []).append(length)
    unknown = [own for own in names.values() if any(not isinstance(n, int) for n in own)]
    if any(n is UNKNOWN for own in unknown for n in own) or any(len({*own} - {1}) > 1 for own in unknown):
        return False
    return all(n > 0 for own in names.values() for n in own if isinstance(n, int))


class Einsum(Op, frozen=True):
    """result[labels] = the sum, over all labels it lacks, of the product of the operands. Source: ONNX Einsum-28.

    Axes with one label are equal or 1, within one operand equal; an ellipsis broadcasts and is summed where the result
    lacks it. Integers wrap; float16 and bfloat16 are summed in float32 and rounded once.
    """

    equation: str

    def infer(self, *inputs: Fact) -> TensorType:
        terms, result = parse(self.equation)
        if len(terms) != len(inputs):
            raise TypeRuleError(f"equation {self.equation!r} has {len(terms)} operands, the node {len(inputs)}")
        dtype = same_dtype(*inputs)
        require_dtype(dtype, _NUMBERS)
        shapes = [tensor(x).shape for x in inputs]
        return TensorType(dtype, self._shape(terms, result, shapes))

    def _shape(self, terms: Sequence[Term], result: Term, shapes: Sequence[Shape]) -> Shape:
        lengths: dict[str, list[Dim]] = {}
        width: int | None = 0
        for position, (term, shape) in enumerate(zip(terms, shapes, strict=True)):
            if isinstance(shape, AnyShape):
                width = None if ELLIPSIS in term else width
                for label in term:
                    lengths.setdefault(label, []).append(UNKNOWN)
                continue
            own = _width(term, len(shape), position, self.equation)
            width = None if width is None else max(width, own)
            for label, length in self._lengths(spread(term, own), shape).items():
                lengths.setdefault(label, []).append(length)
        common = {label: self._unify(label, dims) for label, dims in lengths.items()}
        if width is None and ELLIPSIS in result:
            return UNRANKED
        return tuple(common[label] for label in spread(result, width or 0))

    def _lengths(self, labels: Term, shape: tuple[Dim, ...]) -> dict[str, Dim]:
        """The length of each label in one operand; a diagonal needs equal lengths."""
        result: dict[str, Dim] = {}
        for label, dim in zip(labels, shape, strict=True):
            before = result.setdefault(label, dim)
            if dims.differ(before, dim):
                raise TypeRuleError(f"equation {self.equation!r} takes the diagonal of lengths {before} and {dim}")
            result[label] = dim if isinstance(dim, int) else before
        return result

    def _unify(self, label: str, lengths: Sequence[Dim]) -> Dim:
        try:
            return functools.reduce(broadcast_dim, lengths)
        except TypeRuleError as error:
            shown = ELLIPSIS if label.startswith(ELLIPSIS) else label
            raise TypeRuleError(
                f"label {shown!r} of equation {self.equation!r}: {error.message}", fix=error.fix
            ) from None

    def decompose(self, inputs: Sequence[Value | None], build: NodeBuilder) -> list[Value] | None:
        operands = [x for x in inputs if x is not None]
        dtype = tensor(operands[0]).dtype
        terms, result = parse(self.equation)
        if any(tensor(x).rank is None for x in operands) or (dtype.itemsize < 4 and dtype not in COMPUTED_FLOATS):
            return None
        widths = [
            _width(term, len(lengths_of(x)), k, self.equation)
            for k, (term, x) in enumerate(zip(terms, operands, strict=True))
        ]
        labels = [spread(term, width) for term, width in zip(terms, widths, strict=True)]
        if any(len(set(term)) < len(term) for term in labels) or not _is_clear(labels, operands):
            return None
        write, wide = Writer(build), accumulator(dtype)
        pairs = zip(operands, labels, strict=True)
        total = contract(write, [Operand(write.cast(x, wide), term) for x, term in pairs], spread(result, max(widths)))
        return [write.cast(total, dtype)]

    def is_total(self, inputs: Intervals, operands: Sequence[Fact | None], results: Sequence[Fact]) -> bool:
        return sum(tensor(fact).rank or 0 for fact in operands if fact is not None) <= _MOST_LABELS

    def run(self, *inputs: np.ndarray) -> np.ndarray:
        check_types(self, *inputs)
        terms, result = parse(self.equation)
        widths = [_width(term, x.ndim, k, self.equation) for k, (term, x) in enumerate(zip(terms, inputs, strict=True))]
        labels = [spread(term, width) for term, width in zip(terms, widths, strict=True)]
        output = spread(result, max(widths))
        numbers = {label: k for k, label in enumerate(dict.fromkeys(label for term in labels for label in term))}
        if len(numbers) > _MOST_LABELS:
            raise RunError(f"equation {self.equation!r} has {len(numbers)} labels, at most {_MOST_LABELS} are possible")
        operands: list[np.ndarray | list[int]] = []
        for x, term in zip(inputs, labels, strict=True):
            operands += [widen(x), [numbers[label] for label in term]]
        total = np.einsum(*operands, [numbers[label] for label in output], optimize=len(inputs) > 1)
        return np.asarray(total).astype(inputs[0].dtype, copy=False)
