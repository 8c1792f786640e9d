"""Checks that what inference says about named dims holds for every size they can have."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import product
from typing import Any

import numpy as np

from whorl.errors import RunError
from whorl.ir import dims
from whorl.ir.dims import UNKNOWN
from whorl.ir.graph import Op, as_types, as_values
from whorl.ir.infer import names_in_type
from whorl.ir.types import AnyShape, Known, TensorType

N, M, K = (dims.name(text) for text in "NMK")
INT64 = np.dtype(np.int64)
FLOAT32 = np.dtype(np.float32)


def scalar(element: Any, dtype: Any = np.int64) -> Known:
    known = np.empty((), dtype=object)
    known[()] = element
    return Known(TensorType(np.dtype(dtype), ()), known)


def shape_of(op: Op, *facts: Known | None) -> Any:
    """The inferred shape of the first output; UNKNOWN dims as None so that they compare."""
    shape = as_types(op.infer(*facts))[0].shape
    return shape if isinstance(shape, AnyShape) else tuple(None if d is UNKNOWN else d for d in shape)


def known_of(op: Op, *facts: Known | None) -> list[Any] | None:
    """The inferred elements of the first output; UNKNOWN ones as None."""
    outcome = op.infer_known(*facts)
    if not outcome or outcome[0] is None:
        return None
    return np.array([None if e is UNKNOWN else e for e in outcome[0].flat], object).reshape(outcome[0].shape).tolist()


def concrete(fact: Known | None, binding: dict[str, int]) -> np.ndarray | None:
    """An array of the fact's type and elements for some sizes."""
    if fact is None:
        return None
    assert isinstance(fact.type, TensorType) and not isinstance(fact.type.shape, AnyShape)
    shape = [dims.substitute(d, binding) for d in fact.type.shape]
    if fact.known is None:
        return np.arange(np.prod(shape, dtype=int)).reshape(shape).astype(fact.type.dtype)
    return np.array([dims.substitute(e, binding) for e in fact.known.flat]).reshape(shape).astype(fact.type.dtype)


def check_has(op: Op, *facts: Known | None, sizes: Iterable[int] = range(5), allow: Callable = lambda b: True) -> int:
    """Run the op for all sizes of the names; what inference said must hold. The number of runs that succeeded."""
    types = as_types(op.infer(*facts))
    known = op.infer_known(*facts)
    names = sorted(set().union(*(names_in_type(f.type) for f in facts if f is not None), *map(_names, facts)))
    done = 0
    for chosen in product(sizes, repeat=len(names)):
        binding = dict(zip(names, chosen, strict=True))
        if not allow(binding):
            continue
        try:
            results = as_values(op.run(*(concrete(f, binding) for f in facts)))
        except RunError:
            continue
        done += 1
        for type, result in zip(types, results, strict=True):
            _check_shape(type, result, binding)
        for elements, result in zip(known, results, strict=False):
            _check_elements(elements, result, binding)
    return done


def _names(fact: Known | None) -> set[str]:
    if fact is None or fact.known is None:
        return set()
    return set().union(*(dims.names_in(e) for e in fact.known.flat))


def _check_shape(type: Any, result: np.ndarray, binding: dict[str, int]) -> None:
    assert result.dtype == type.dtype
    if not isinstance(type.shape, AnyShape):
        message = [dims.substitute(d, binding) for d in type.shape]
        assert len(message) == result.ndim
        for length, actual in zip(message, result.shape, strict=True):
            assert length is UNKNOWN or length == actual, f"{type} at {binding} is {list(result.shape)}"


def _check_elements(elements: np.ndarray | None, result: np.ndarray, binding: dict[str, int]) -> None:
    if elements is not None:
        message = [dims.substitute(e, binding) for e in elements.flat]
        pairs = zip(message, result.flat, strict=True)
        assert all(e is UNKNOWN or e == actual for e, actual in pairs), f"{elements} at {binding} is {result}"
