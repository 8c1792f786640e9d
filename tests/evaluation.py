"""Running one op, asking for its types, and a module around it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from whorl.ir.build import Builder
from whorl.ir.graph import Module, Op, Region, as_types
from whorl.ir.infer import Inference
from whorl.ir.types import UNRANKED, Known, TensorType


def evaluate(op: Op, *inputs: np.ndarray | None) -> Any:
    """What the op computes, as the interpreter calls it."""
    with np.errstate(all="ignore"):
        return op.run(*inputs)


def floats(*elements: Any, dtype: Any = np.float32) -> np.ndarray:
    return np.array(elements, dtype)


def shaped(*shape: Any, dtype: Any = np.float32) -> Known:
    """The fact of a tensor whose elements nobody knows."""
    return Known(TensorType(np.dtype(dtype), shape))


def unranked(dtype: Any = np.float32) -> Known:
    return Known(TensorType(np.dtype(dtype), UNRANKED))


def listed(*elements: Any, dtype: Any = np.int64) -> Known:
    """The fact of a rank-1 tensor with known elements."""
    known = np.empty(len(elements), dtype=object)
    known[:] = elements
    return Known(TensorType(np.dtype(dtype), (len(elements),)), known)


def types(op: Op, *facts: Known | None) -> str:
    """The types that inference gives all outputs, as text."""
    return ", ".join(map(str, as_types(op.infer(*facts))))


def elements(op: Op, *facts: Known | None) -> Any:
    """The elements of output 0 that inference follows, as a (nested) list; None where it does not."""
    known = op.infer_known(*facts)
    return known[0].tolist() if known and known[0] is not None else None


def module_of(
    op: Op, inputs: Sequence[np.ndarray | Known | None], constants: Sequence[int] = (), outputs: int = 1
) -> Module:
    """A module with inputs x0, x1, ... and outputs y0, y1, ... of one op; inputs at `constants` are constants."""
    region = Region()
    build = Builder(region, Inference())
    passed = []
    for k, value in enumerate(inputs):
        if value is None:
            passed.append(None)
        elif k in constants:
            passed.append(build.constant(value))
        else:
            type = value.type if isinstance(value, Known) else TensorType(value.dtype, value.shape)
            passed.append(region.add_argument(f"x{k}", type))
    names = [f"y{k}" for k in range(outputs)]
    region.results = list(build.add_many(op, passed, names, name="op"))
    return Module(region, names)
