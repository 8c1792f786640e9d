"""Kinds of run-time values: arrays, lists of values (sequences), dictionaries (maps), None (an empty optional)."""

from __future__ import annotations

from typing import TypeGuard

import numpy as np


def is_array(value: object) -> TypeGuard[np.ndarray]:
    return isinstance(value, np.ndarray)


def is_sequence(value: object) -> TypeGuard[list[object]]:
    return isinstance(value, list)


def is_map(value: object) -> TypeGuard[dict[object, object]]:
    return isinstance(value, dict)
