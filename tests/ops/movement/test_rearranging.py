"""What ops that move elements share: integer inputs, indices in range, memory, and dims that move along."""

from __future__ import annotations

import numpy as np
import pytest
from evaluation import elements, listed, shaped, unranked
from named_dims import N

from whorl.errors import RunError, TypeRuleError
from whorl.ir.types import TensorType
from whorl.ops.movement import rearranging
from whorl.ops.movement.axes import Transpose
from whorl.ops.movement.indexing import Gather
from whorl.ops.movement.rearranging import (
    as_objects,
    broadcast_value,
    in_range,
    integers,
    is_small,
    require_memory,
    run_axis,
    sizes,
    vector_length,
    zero_of,
)

F32 = np.dtype(np.float32)


def test_dims_move_with_the_elements() -> None:
    assert elements(Gather(), listed(N, 5), listed(1, 0)) == [5, N]
    assert elements(Gather(), listed(N, 5), listed(2)) is None
    assert elements(Transpose(), listed(N, 5)) == [N, 5]


def test_tensor_is_small_only_if_all_lengths_are_known_and_few() -> None:
    assert is_small(TensorType(F32, (2, 3)))
    assert not is_small(TensorType(F32, (N,)))
    assert not is_small(TensorType(F32))
    assert not is_small(TensorType(F32, (1 << 20,)))


def test_integer_input_has_one_axis_at_most() -> None:
    assert vector_length(shaped(3, dtype=np.int64), "axes") == 3
    assert vector_length(shaped(dtype=np.int32), "axes") == 1
    assert vector_length(unranked(np.int64), "axes") is None
    with pytest.raises(TypeRuleError, match=r"^axes has rank 2, expected 1$"):
        vector_length(shaped(3, 1, dtype=np.int64), "axes")
    with pytest.raises(TypeRuleError, match=r"^axes holds float32, expected integers$"):
        vector_length(shaped(3), "axes")


def test_sizes_are_not_negative() -> None:
    assert sizes(np.array([2, 0]), "shape") == (2, 0)
    with pytest.raises(RunError, match=r"^shape is \[2, -1\], lengths must not be negative$"):
        sizes(np.array([2, -1]), "shape")


def test_named_dim_is_no_integer() -> None:
    assert integers(np.array([[1], [2]])) == [1, 2]
    with pytest.raises(TypeError):
        integers(as_objects([N]))


def test_axis_and_indices_count_from_either_end() -> None:
    assert run_axis(-1, 3) == 2
    assert in_range(np.array([0, -1, 2]), 3, 0).tolist() == [0, 2, 2]
    with pytest.raises(RunError, match=r"^axis 3 is outside \[-3, 3\) of a tensor of rank 3$"):
        run_axis(3, 3)
    with pytest.raises(RunError, match=r"^index -4 is outside \[-3, 3\) of axis 1$"):
        in_range(np.array([0, -4]), 3, 1)
    assert in_range(np.zeros(0, np.int64), 0, 0).size == 0


def test_more_than_the_memory_of_the_machine_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rearranging, "machine_memory", lambda: 100)
    require_memory((5, 5), F32)
    with pytest.raises(RunError, match=r"^float32\[5, 6\] takes 120 bytes, more than this machine's memory$"):
        require_memory((5, 6), F32)


def test_broadcast_value_shares_memory() -> None:
    wide = broadcast_value(np.ones((1, 2), np.float32), (1 << 40, 2))
    assert wide.shape == (1 << 40, 2) and wide.strides[0] == 0
    with pytest.raises(RunError, match=r"has more elements than memory can ever hold$"):
        broadcast_value(np.ones(1, np.float32), (1 << 62, 1 << 62))


def test_zero_of_texts_is_empty() -> None:
    assert zero_of(np.dtype(object)).item() == ""
    assert zero_of(F32).item() == 0
