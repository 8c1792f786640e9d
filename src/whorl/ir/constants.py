"""The Constant op and what it may hold: arrays, or anything lazy that can become one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from whorl.ir.op import Op
from whorl.ir.types import KNOWN_LIMIT, TensorType


class LazyArray(Protocol):
    """An array whose bytes are fetched when somebody asks for them."""

    @property
    def dtype(self) -> np.dtype: ...
    @property
    def shape(self) -> tuple[int, ...]: ...
    def numpy(self) -> np.ndarray: ...


def as_array(value: np.ndarray | LazyArray) -> np.ndarray:
    """The elements of a constant; a NumPy array, memory-mapped or not, is used as it is."""
    return value if isinstance(value, np.ndarray) else value.numpy()


@dataclass(frozen=True, eq=False)
class Constant(Op):
    """A tensor fixed in the program. Source: ONNX Constant-25, initializers."""

    value: Any

    def infer(self) -> TensorType:
        return TensorType(self.value.dtype, tuple(self.value.shape))

    def infer_known(self) -> tuple[np.ndarray | None, ...]:
        shape = self.value.shape
        if len(shape) > 1 or self.value.dtype == object or (shape and shape[0] > KNOWN_LIMIT):
            return (None,)
        return (as_array(self.value).astype(object),)

    def run(self) -> np.ndarray:
        return as_array(self.value)
