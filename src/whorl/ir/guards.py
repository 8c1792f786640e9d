"""Classes of values, told to type checkers: `isinstance` alone leaves what an array or a list holds unknown."""

from __future__ import annotations

from typing import Any, TypeGuard

import numpy as np


def is_array(value: object) -> TypeGuard[np.ndarray]:
    """Whether a value is a NumPy array."""
    return isinstance(value, np.ndarray)


def is_scalar(value: object) -> TypeGuard[np.generic[Any]]:
    """Whether a value is a NumPy scalar."""
    return isinstance(value, np.generic)


def is_list(value: object) -> TypeGuard[list[Any]]:
    """Whether a value is a list, as sequences are at run time."""
    return isinstance(value, list)


def is_tuple(value: object) -> TypeGuard[tuple[Any, ...]]:
    """Whether a value is a tuple."""
    return isinstance(value, tuple)


def is_dict(value: object) -> TypeGuard[dict[Any, Any]]:
    """Whether a value is a dictionary, as maps are at run time."""
    return isinstance(value, dict)


def is_dtype(value: object) -> TypeGuard[np.dtype]:
    """Whether a value is an element type."""
    return isinstance(value, np.dtype)
