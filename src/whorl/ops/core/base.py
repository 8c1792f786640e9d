"""What op families share: broadcasting, axes, integer arguments, and the elementwise base class."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar

import numpy as np

from whorl.errors import RunError, TypeRuleError
from whorl.ir import dims
from whorl.ir.dims import UNKNOWN, Dim
from whorl.ir.dtypes import BOOL, FLOAT32, is_float, name_of
from whorl.ir.dtypes import COMPUTED_FLOATS as COMPUTED_FLOATS
from whorl.ir.graph import Op, as_types
from whorl.ir.native.builder import NativeBuilder
from whorl.ir.native.expressions import Expr
from whorl.ir.native.view import Operands, View
from whorl.ir.types import UNRANKED, AnyShape, Fact, Shape, TensorType, Type, fact_of, tensor
from whorl.ops.core.contents import known_elements
from whorl.ops.core.lazy import lazy_map


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
    """The one element type that all inputs must have."""
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


def are_numbers(facts: Iterable[Fact | None]) -> bool:
    """Whether inference knows every element of these operands as a number; an omitted one has none."""
    return all(fact is None or known_ints(fact) is not None for fact in facts)


def shape_of(fact: Fact | None) -> Shape | AnyShape:
    """The shape of an operand; that of no rank where it is omitted."""
    return UNRANKED if fact is None else tensor(fact).shape


def length_of(fact: Fact | None, axis: int) -> Dim:
    """The length of an axis; unknown where the operand is omitted, unranked, or has no such axis."""
    shape = shape_of(fact)
    return UNKNOWN if isinstance(shape, AnyShape) or not -len(shape) <= axis < len(shape) else shape[axis]


MAX_RANK = 64
"""The most axes of a tensor, as NumPy has it."""


def known_length(fact: Fact) -> int | None:
    """The number of elements of a rank-1 tensor with one for each of some axes, if its type says it."""
    shape = tensor(fact).shape
    if isinstance(shape, AnyShape) or len(shape) != 1 or not isinstance(shape[0], int):
        return None
    if shape[0] > MAX_RANK:
        raise TypeRuleError(f"is given numbers for {shape[0]} axes; {MAX_RANK} are possible")
    return shape[0]


def accumulator(dtype: np.dtype) -> np.dtype:
    """The element type of sums over `dtype`: float32 for narrower floats, else itself."""
    return FLOAT32 if is_float(dtype) and dtype.itemsize < FLOAT32.itemsize else dtype


def widen(value: np.ndarray) -> np.ndarray:
    """The array in the element type of its sums."""
    return value.astype(accumulator(value.dtype), copy=False)


def larger(x: np.ndarray, y: np.ndarray | int) -> np.ndarray:
    """The larger of two, element by element; NaN where one is.

    Of zeros of both signs NumPy takes the second in float32, the first in float16: all types do as float32 does.
    """
    return np.maximum(widen(x), y).astype(x.dtype, copy=False)


def smaller(x: np.ndarray, y: np.ndarray | int) -> np.ndarray:
    """The smaller of two, as `larger`."""
    return np.minimum(widen(x), y).astype(x.dtype, copy=False)


def require_dtype(dtype: np.dtype, accepted: frozenset[np.dtype]) -> None:
    """Refuse an element type that an op does not take."""
    if dtype not in accepted:
        raise TypeRuleError(f"does not accept {name_of(dtype)}")


def require_broadcast(shape: Shape, target: Shape, what: str) -> None:
    """Refuse a shape that is proved not to broadcast to a target that does not grow."""
    if isinstance(shape, AnyShape) or isinstance(target, AnyShape):
        return
    pairs = zip(reversed(shape), reversed(target), strict=False)
    if len(shape) > len(target) or any(not dims.equal(dim, 1) and dims.differ(dim, goal) for dim, goal in pairs):
        raise TypeRuleError(f"{what} has shape {list(shape)}, which does not broadcast to {list(target)}")


def unknown_shape(rank: int | None) -> Shape:
    """A shape of which only the rank is known, or not even that."""
    if rank is not None and rank > MAX_RANK:
        raise TypeRuleError(f"asks for a tensor of {rank} axes; {MAX_RANK} are possible")
    return UNRANKED if rank is None else (UNKNOWN,) * rank


def dims_of(fact: Fact | None, rank: int, what: str) -> tuple[Dim, ...]:
    """The dims of a tensor that must have a rank; all unknown where it is unranked or omitted."""
    shape = UNRANKED if fact is None else tensor(fact, what).shape
    if isinstance(shape, AnyShape):
        return (UNKNOWN,) * rank
    if len(shape) != rank:
        raise TypeRuleError(f"{what} has rank {len(shape)}, expected {rank}")
    return shape


def unify_lengths(what: str, *lengths: Dim) -> Dim:
    """The one length that several dims must have, the best known of them; an error where two are proved different."""
    for a in lengths:
        for b in lengths:
            if dims.differ(a, b):
                raise TypeRuleError(f"{what} is both {a} and {b}")
    known = [d for d in lengths if d is not UNKNOWN]
    return next((d for d in known if isinstance(d, int)), known[0] if known else UNKNOWN)


def check_types(op: Op, *values: object) -> tuple[Type, ...]:
    """The output types of an op for run-time values; what `infer` refuses is a RunError here."""
    try:
        return as_types(op.infer(*(None if value is None else fact_of(value) for value in values)))
    except TypeRuleError as error:
        raise RunError(error.message, fix=error.fix) from None


def one_element(value: np.ndarray, what: str) -> Any:
    """The single element of a tensor of any rank, as a Python scalar."""
    if value.size != 1:
        raise RunError(f"{what} has shape {list(value.shape)}, expected one element")
    return value.reshape(-1)[0].item() if value.dtype != object else value.reshape(-1)[0]


def snapshot(array: np.ndarray) -> np.ndarray:
    """A copy to be checked and then used: NumPy reads indices and masks again, which another thread may write."""
    return np.array(array)


def detach(value: Any) -> Any:
    """A copy of a view of a larger array, so that its owner does not keep that array alive; else the value itself."""
    base = value.base if isinstance(value, np.ndarray) else None
    return value.copy() if isinstance(base, np.ndarray) and base.nbytes > value.nbytes else value


class Elementwise(Op, frozen=True):
    """Output element = f(input elements), inputs broadcast; the output has the inputs' element type."""

    abstract: ClassVar[bool] = True

    dtypes: ClassVar[frozenset[np.dtype]] = frozenset()
    """The element types accepted; empty for all."""
    idempotent: ClassVar[bool] = False
    """f(x, x) is x, bit by bit."""
    cancels: ClassVar[bool] = False
    """f(x, x) is 0 for integers and bools."""
    any_length = True
    never_fails = True

    def neutral(self, dtype: np.dtype) -> float | None:
        """The number c for which f(x, c) is x for every x, bit by bit; of zeros the sign counts."""
        return None

    def absorbing(self, dtype: np.dtype) -> float | None:
        """The number c for which f(x, c) is c for every x."""
        return None

    def infer(self, *inputs: Any, **options: Any) -> TensorType:
        dtype = same_dtype(*inputs)
        if self.dtypes and dtype not in self.dtypes:
            raise TypeRuleError(f"does not accept {name_of(dtype)}")
        return TensorType(
            self.result_dtype(dtype), broadcast_shapes(*(tensor(x).shape for x in inputs if x is not None))
        )

    def result_dtype(self, dtype: np.dtype) -> np.dtype:
        return dtype

    lazily = lazy_map

    def scalar(self, k: NativeBuilder, *elements: Any, **options: Any) -> Expr | None:
        """Native form: the output element from the input elements, by the operations of `k`; None if there is none."""
        return None

    def lower(self, k: NativeBuilder, inputs: Operands, outputs: Sequence[TensorType]) -> Sequence[View] | None:
        return k.elementwise(self.scalar, inputs.present(), outputs[0])

    def infer_known(self, *inputs: Any, **options: Any) -> tuple[np.ndarray | None, ...]:
        return known_elements(self.run, self.of_dims, inputs)

    def of_dims(self, *elements: Any, **options: Any) -> Dim:
        """The result for single elements, dims among them; UNKNOWN where no dim expresses it."""
        return self.run(*elements) if self.symbolic else UNKNOWN


class Predicate(Elementwise, frozen=True):
    """An elementwise op whose result is bool."""

    abstract: ClassVar[bool] = True

    def result_dtype(self, dtype: np.dtype) -> np.dtype:
        return BOOL
