"""How ops give the results of large constants as elements that are computed when they are read.

Folding needs no list of ops: an op says with `lazily` how its result waits. Elementwise ops use their own `run` on
blocks. Ops that answer views show `run` an array of the right shape over one byte: the strides of its answer tell which
axis went where, so that the meaning stays in `run`. What may refuse an element, such as an integer division, never
waits: the error would come up in whoever reads the constant.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from whorl.ir.dtypes import STRING
from whorl.ir.elements.base import Elements
from whorl.ir.elements.mapped import mapped
from whorl.ir.elements.views import viewed
from whorl.ir.graph import Op, as_types
from whorl.ir.types import AnyShape, Known, TensorType

Lazy = tuple[Elements, ...] | None
"""An op's outputs as elements; None where its `run` must see whole arrays."""


def lazy_view(self: Op, *inputs: Any) -> Lazy:
    """For an op whose `run` answers views of its first input, and reads of the others alone."""
    source, *settings = inputs
    return viewed(self.run, source, *(None if each is None else each.numpy() for each in settings))


def lazy_map(self: Op, *inputs: Any) -> Lazy:
    """For an op whose output elements depend on the input elements at the same place, and that refuses none."""
    given = [x for x in inputs if x is not None]
    (type,) = as_types(self.infer(*(None if x is None else Known(TensorType(x.dtype, x.shape)) for x in inputs)))
    if not isinstance(type, TensorType) or isinstance(type.shape, AnyShape) or STRING in (type.dtype, given[0].dtype):
        return None
    shape = tuple(dim for dim in type.shape if isinstance(dim, int))
    if len(shape) < len(type.shape) or any(len(x.shape) > len(shape) for x in given):
        return None
    places = [x is not None for x in inputs]

    def function(*blocks: np.ndarray) -> Any:
        rest = iter(blocks)
        return self.run(*(next(rest) if is_given else None for is_given in places))

    return (mapped(self.run if all(places) else function, given, type.dtype, shape),)
