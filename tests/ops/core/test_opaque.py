"""A layer of an unknown type has its declared types, and refuses to run."""

from __future__ import annotations

import numpy as np
import pytest

from whorl.errors import RunError
from whorl.ir.types import TensorType
from whorl.ops.core.opaque import OpaqueLayer

TYPES = (TensorType(np.dtype(np.float32), (2,)), TensorType(np.dtype(np.int64), ()))


def test_types_are_the_declared_ones() -> None:
    assert OpaqueLayer("Novel", "extension", types=TYPES).infer(None) == TYPES


def test_run_is_refused() -> None:
    with pytest.raises(RunError, match=r"^is a Novel of extension, which is kept for writing but cannot run\n"):
        OpaqueLayer("Novel", "extension", types=TYPES).run(np.zeros(2))
