"""What op families share: broadcasting, axes, integer arguments, and the elementwise base class."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from whorl.errors import RunError, TypeRuleError
from whorl.ir import dims
from whorl.ir.dims import UNKNOWN, Dim
from whorl.ir.dtypes import BOOL, name_of
from whorl.ir.op import Op
from whorl.ir.types import UNRANKED, AnyShape, Fact, Shape, TensorType, tensor


def broadcast_dim(a: Dim, b: Dim) -> Dim:
    """The length two broadcast axes give; unknown where neither is proved, an error where they cannot match."""
    if dims.equal(a, b) or (isinstance(b, int) and b == 1):
        return a
    if isinstance(a, int) and a == 1:
        return b
    if isinstance(a, int) and isinstance(b, int):
        raise TypeRuleError(f"lengths {a} and {b} do not broadcast", fix="make them equal or one of them 1")
    if isinstance(a, int):
        return a
    return b if isinstance(b, int) else UNKNOWN


def broadcast_shapes(*shapes: Shape) -> Shape:
    """The shape NumPy broadcasting gives, over ints and named dims; unranked as soon as one is."""
    result: list[Dim] = []
    for shape in shapes:
        if isinstance(shape, AnyShape):
            return UNRANKED
        if len(shape) > len(result):
            result = [1] * (len(shape) - len(result)) + result
        offset = len(result) - len(shape)
        try:
            result[offset:] = [broadcast_dim(x, y) for x, y in zip(result[offset:], shape, strict=True)]
        except TypeRuleError as error:
            shown = " with ".join(str(list(s)) if not isinstance(s, AnyShape) else "[*]" for s in shapes)
            raise TypeRuleError(f"cannot broadcast {shown}: {error.message}", fix=error.fix) from None
    return tuple(result)


def normal_axis(axis: int, rank: int, what: str = "axis") -> int:
    """An axis counted from the front; out of range is an error."""
    if not -rank <= axis < rank:
        raise TypeRuleError(f"{what} {axis} is outside [{-rank}, {rank}) of a tensor of rank {rank}")
    return axis % rank


def same_dtype(*inputs: Fact | None) -> np.dtype:
    """The one element type that all tensors given must have."""
    dtypes = [tensor(x).dtype for x in inputs if x is not None]
    if any(d != dtypes[0] for d in dtypes):
        names = ", ".join(name_of(d) for d in dtypes)
        raise TypeRuleError(f"inputs have different element types: {names}", fix="insert a Cast")
    return dtypes[0]


def known_ints(fact: Fact | None) -> tuple[int, ...] | None:
    """The elements of an integer tensor that inference knows as plain numbers."""
    if fact is None or fact.known is None:
        return None
    elements = tuple(fact.known.reshape(-1).tolist())
    return elements if all(isinstance(e, int) for e in elements) else None


def known_dims(fact: Fact | None) -> tuple[Dim, ...] | None:
    """The elements of an integer tensor as dims, if inference follows them."""
    return None if fact is None or fact.known is None else tuple(fact.known.reshape(-1).tolist())


def known_length(fact: Fact) -> int | None:
    """The number of elements of a rank-1 tensor, if its type says it."""
    shape = tensor(fact).shape
    if isinstance(shape, AnyShape) or len(shape) != 1 or not isinstance(shape[0], int):
        return None
    return shape[0]


def unknown_shape(rank: int | None) -> Shape:
    """A shape of which only the rank is known, or not even that."""
    return UNRANKED if rank is None else (UNKNOWN,) * rank


def one_element(value: np.ndarray, what: str) -> Any:
    """The single element of a tensor of any rank, as a Python scalar."""
    if value.size != 1:
        raise RunError(f"{what} has shape {list(value.shape)}, expected one element")
    return value.reshape(-1)[0].item() if value.dtype != object else value.reshape(-1)[0]


class Elementwise(Op, abstract=True):
    """Output element = f(input elements), inputs broadcast; the output has the inputs' element type."""

    dtypes: ClassVar[frozenset[np.dtype]] = frozenset()
    """The element types accepted; empty for all."""

    def infer(self, *inputs: Fact | None) -> TensorType:
        dtype = same_dtype(*inputs)
        if self.dtypes and dtype not in self.dtypes:
            raise TypeRuleError(f"does not accept {name_of(dtype)}")
        return TensorType(self.result_dtype(dtype), broadcast_shapes(*(tensor(x).shape for x in inputs if x is not None)))

    def result_dtype(self, dtype: np.dtype) -> np.dtype:
        return dtype


class Predicate(Elementwise, abstract=True):
    """An elementwise op whose result is bool."""

    def result_dtype(self, dtype: np.dtype) -> np.dtype:
        return BOOL
