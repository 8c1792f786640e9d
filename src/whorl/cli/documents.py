"""What `--json` prints: one document, in JSON that every reader takes."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np

from whorl.ir.dtypes import COMPLEX, INTEGERS, STRING
from whorl.ir.types import type_of


def print_document(document: Any) -> None:
    """Print one JSON document on standard output."""
    print(json.dumps(document, indent=1, allow_nan=False))


def plain(value: Any) -> Any:
    """A value as JSON: arrays with their types, sequences as lists, None as null, maps as lists of pairs.

    Complex numbers are pairs; NaN and infinities, which JSON lacks, are the texts "nan", "inf" and "-inf".
    """
    if isinstance(value, np.ndarray):
        return {"type": str(type_of(value)), "value": _elements(value)}
    if isinstance(value, list):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {"map": [[key, _number(item)] for key, item in value.items()]}
    return value


def _elements(array: np.ndarray) -> Any:
    if array.dtype in COMPLEX:
        return _elements(np.stack([np.real(array), np.imag(array)], axis=-1))
    if array.dtype in INTEGERS:
        return array.astype(np.int64 if array.dtype != np.uint64 else np.uint64).tolist()
    if array.dtype == STRING or array.dtype == bool:
        return array.tolist()
    return _finite(array.astype(np.float64).tolist())


def _finite(value: Any) -> Any:
    return [_finite(item) for item in value] if isinstance(value, list) else _number(value)


def _number(value: Any) -> Any:
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value
