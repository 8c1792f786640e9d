"""Blocks of pixels, shuffled channels, reversed sequences, padding."""

import numpy as np
import pytest
from formats.openvino.one_layer import check_layer, check_node, fixed, scalar

from whorl.ops.movement.axes import ReverseSequence
from whorl.ops.movement.blocks import DepthToSpace, SpaceToDepth
from whorl.ops.movement.padding import Pad

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


@pytest.mark.parametrize("mode", ["constant", "edge", "reflect", "symmetric"])
def test_padding(mode: str) -> None:
    value = [scalar(1.5, np.float32)] if mode == "constant" else []
    check_layer("Pad", 1, [X, fixed(1, 0, 2), fixed(0, 2, 1), *value], {"pad_mode": mode})


def test_padding_with_negative_numbers_crops() -> None:
    check_layer("Pad", 12, [X, fixed(-1, 0, 1), fixed(0, -2, 1)], {"pad_mode": "constant"})


@pytest.mark.parametrize("constants", [(1, 3), ()], ids=["constant", "computed"])
@pytest.mark.parametrize("mode", ["constant", "edge", "reflect", "wrap"])
def test_padding_written(mode: str, constants: tuple[int, ...]) -> None:
    check_node(Pad(mode), [X, np.array([1, 0, 2, 0, 2, 1])], constants[:1])
    check_node(Pad(mode), [X, np.array([1, 2, 0, 2]), None, np.array([-1, 1])], constants)


def test_padding_with_a_value_written() -> None:
    pads, value = np.array([1, 0, 2, 0, 2, 1]), np.array(7, np.float32)
    check_node(Pad(), [X, pads, value], (1, 2))
    check_node(Pad(), [X, pads, value], (1,))
    check_node(Pad(), [X > 20, pads, np.array(True)], (1, 2))
