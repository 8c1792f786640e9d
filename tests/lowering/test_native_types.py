"""Types that have native code, and those that are refused with a reason."""

from __future__ import annotations

import numpy as np
import pytest

from whorl.ir import dims
from whorl.ir.types import UNRANKED, SequenceType, TensorType
from whorl.lowering.expressions import Unsupported
from whorl.lowering.native_types import fixed_type, is_fixed, is_single, native_type, sizes

N = dims.name("n")


def tensor(*shape: dims.Dim, dtype: type | str = np.float32) -> TensorType:
    return TensorType(np.dtype(dtype), shape)


def test_native_type_with_dims_is_taken_as_it_is() -> None:
    assert native_type(tensor(N, 3), "x") == tensor(N, 3)


@pytest.mark.parametrize(
    ("type", "reason"),
    [
        (TensorType(np.dtype(np.float32), UNRANKED), "x is float32[*]"),
        (SequenceType(tensor(2)), "x is seq(float32[2])"),
        (tensor(2, dtype=object), "x is string"),
        (tensor(2, dtype=np.complex64), "x is complex64"),
        (tensor(1 << 61, N), "more than memory can ever hold"),
    ],
)
def test_native_type_without_native_code_is_refused(type: TensorType | SequenceType, reason: str) -> None:
    with pytest.raises(Unsupported) as error:
        native_type(type, "x")
    assert reason in str(error.value)


def test_fixed_type_with_a_dim_is_refused() -> None:
    with pytest.raises(Unsupported, match=r"the shape of x changes or is not known: float32\[n\]"):
        fixed_type(tensor(N), "x")
    assert fixed_type(tensor(2, 3), "x") == tensor(2, 3)


def test_shapes_are_fixed_where_all_lengths_are_numbers() -> None:
    assert is_fixed(tensor(2, 0)) and not is_fixed(tensor(N)) and sizes(tensor(2, 0)) == (2, 0)
    assert is_single(tensor()) and is_single(tensor(1, 1)) and not is_single(tensor(N)) and not is_single(tensor(0))
