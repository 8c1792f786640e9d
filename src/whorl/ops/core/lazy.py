"""How ops give the results of large constants as elements that are computed when they are read.

Folding needs no list of ops: `Op.lazily` gives the deferred result. Elementwise ops use their own `run` on blocks. Ops
that return views show `run` an array of the right shape over one byte: the strides of its result show how the axes
move, so that the meaning stays in `run`. An op that may refuse an element, such as an integer division, is never
deferred: its error would come up where the constant is read.
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
    """For an op whose `run` returns views of its first input, and reads the elements of the others alone."""
    source, *settings = inputs
    return viewed(self.run, source, *(None if each is None else each.numpy() for each in settings))


def lazy_map(self: Op, *inputs: Elements | None) -> Lazy:
    """For an op whose output elements depend on the input elements at the same index, and that refuses none."""
    present = [x for x in inputs if x is not None]
    (type,) = as_types(self.infer(*(None if x is None else Known(TensorType(x.dtype, x.shape)) for x in inputs)))
    if not isinstance(type, TensorType) or isinstance(type.shape, AnyShape) or STRING in (type.dtype, present[0].dtype):
        return None
    shape = tuple(dim for dim in type.shape if isinstance(dim, int))
    if len(shape) < len(type.shape) or any(len(x.shape) > len(shape) for x in present):
        return None

    def function(*blocks: np.ndarray) -> np.ndarray:
        rest = iter(blocks)
        return self.run(*(None if x is None else next(rest) for x in inputs))

    return (mapped(self.run if len(present) == len(inputs) else function, present, type.dtype, shape),)
