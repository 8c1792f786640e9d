"""Blocks of pixels, shuffled channels, reversed sequences."""

import numpy as np
import pytest
from formats.openvino.one_layer import check_layer, check_node

from whorl.ops.movement.axes import ReverseSequence
from whorl.ops.movement.blocks import DepthToSpace, SpaceToDepth

X = np.arange(60, dtype=np.float32).reshape(3, 4, 5)


def counted(*shape: int) -> np.ndarray:
    return np.arange(np.prod(shape), dtype=np.float32).reshape(shape)


@pytest.mark.parametrize("mode", ["blocks_first", "depth_first"])
@pytest.mark.parametrize("lengths", [(3,), (3, 4), (2, 3, 4)], ids=str)
def test_depth_and_space(lengths: tuple[int, ...], mode: str) -> None:
    check_layer("DepthToSpace", 1, [counted(2, 16, *lengths)], {"block_size": 2, "mode": mode})
    doubled = [2 * n for n in lengths]
    check_layer("SpaceToDepth", 1, [counted(2, 3, *doubled)], {"block_size": 2, "mode": mode})


@pytest.mark.parametrize("mode", ["DCR", "CRD"])
def test_depth_and_space_written(mode: str) -> None:
    check_node(DepthToSpace(2, mode), [counted(2, 16, 3, 4)])
    check_node(SpaceToDepth(2, mode), [counted(2, 3, 4, 6)])


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_shuffled_channels(axis: int) -> None:
    check_layer("ShuffleChannels", 3, [counted(4, 6, 8, 4)], {"axis": axis, "group": 2})


@pytest.mark.parametrize(("batch", "time"), [(0, 1), (1, 0), (0, 2), (2, 1)])
def test_reversed_sequences(batch: int, time: int) -> None:
    lengths = np.array([1 + k % 3 for k in range(X.shape[batch])], np.int32)
    check_layer("ReverseSequence", 1, [X, lengths], {"batch_axis": batch, "seq_axis": time})


def test_reversed_sequences_written() -> None:
    check_node(ReverseSequence(), [counted(4, 3, 2), np.array([1, 4, 2])])
    check_node(ReverseSequence(0, 1), [counted(4, 3, 2), np.array([1, 3, 2, 0])])
