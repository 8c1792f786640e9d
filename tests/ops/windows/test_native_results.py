"""Where native convolutions write: memory of their own, over what is added, or into features of a larger tensor."""

from __future__ import annotations

import numpy as np

from whorl.ir.dtypes import FLOAT32
from whorl.ir.native.expressions import Buffer, text
from whorl.lowering.builder import KernelBuilder
from whorl.ops.windows.native_results import Ending, Result, limits_of, moved, when_windows

SHAPE = (2, 3, 4, 5)


def test_result_has_memory_of_its_own_or_features_of_a_larger_tensor() -> None:
    k, larger = KernelBuilder(), Buffer("larger", FLOAT32, (2, 9, 4, 5))
    alone, part = Result.of(k, FLOAT32, SHAPE, Ending()), Result.of(k, FLOAT32, SHAPE, Ending(into=(larger, 6)))
    assert alone.buffer.shape == SHAPE and part.buffer is larger
    for result, feature in ((alone, "2"), (part, "8")):
        _, index = result.address(k.const(1), k.const(2))
        assert [text(n) for n in index] == ["1", feature, "0", "0"]


def test_what_is_added_lies_at_the_same_plane() -> None:
    k, other = KernelBuilder(), Buffer("other", FLOAT32, SHAPE)
    result = Result.of(k, FLOAT32, SHAPE, Ending(k.view_of(other)))
    ((buffer, index),) = result.added(k.const(1), k.const(2))
    assert buffer is other and text(index[-1]) == str((1 * 3 + 2) * 20)


def test_address_is_moved_along_its_last_axis() -> None:
    k, memory = KernelBuilder(), Buffer("memory", FLOAT32, SHAPE)
    _, index = moved(k, (memory, (k.const(0), k.const(1), k.const(2), k.const(3))), k.const(7))
    assert [text(n) for n in index] == ["0", "1", "2", "10"]


def test_limits_lie_in_memory_where_there_are_any() -> None:
    k = KernelBuilder()
    assert limits_of(k, FLOAT32, Ending()) is None
    address = limits_of(k, FLOAT32, Ending(bounds=(-1.0, np.inf)))
    assert address is not None and address[0].shape == (2,)


def test_windows_that_surely_are_there_need_no_branch() -> None:
    k = KernelBuilder()
    with when_windows(k, (3, 4)):
        pass
    assert not k.block
