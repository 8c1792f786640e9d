"""Pad read and written."""

import numpy as np
import pytest
from formats.openvino.ir_text import layer, net, parameter, result
from formats.openvino.net_text import program_of, refused_to_write
from formats.openvino.one_layer import check_layer, check_node, fixed, scalar

from whorl.errors import LoadError
from whorl.ops.movement.padding import Pad

X = np.arange(60, dtype=np.float32).reshape(3, 4, 5)


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


@pytest.mark.parametrize("mode", ["constant", "edge", "reflect", "symmetric"])
def test_padding_here_and_cropping_there(mode: str) -> None:
    check_layer("Pad", 12, [X, fixed(-1, 0, 1), fixed(0, -2, 1)], {"pad_mode": mode})
    check_layer("Pad", 12, [X.astype(np.int32), fixed(1, 0, 1), fixed(0, 2, 1)], {"pad_mode": mode})


def test_padding_as_long_as_the_axis_mirrors_all_of_it() -> None:
    check_layer("Pad", 1, [X, fixed(3, 4, 5), fixed(3, 4, 5)], {"pad_mode": "symmetric"})


def test_a_value_counts_in_one_mode_only() -> None:
    check_layer("Pad", 1, [X, fixed(1, 0, 0), fixed(0, 0, 1), scalar(3, np.float32)], {"pad_mode": "edge"})
    check_node(Pad("edge"), [X, np.array([1, 0, 0, 0, 1, 0]), np.array(-3, np.float32)], (1, 2))


def test_mirroring_by_computed_numbers_is_refused() -> None:
    layers = [parameter(0, "3"), parameter(1, "1", "i64"), parameter(2, "1", "i64")]
    layers += [layer(3, "Pad", 3, name="p", pad_mode="symmetric"), result(4)]
    with pytest.raises(LoadError) as caught:
        program_of(net(layers, "0:0-3:0 1:0-3:1 2:0-3:2 3:3-4:0"))
    assert str(caught.value) == (
        "Pad 'p' (line 7): OV501: mirrors by numbers that are computed\n  fix: make them constants"
    )


@pytest.mark.parametrize("mode", ["constant", "edge", "reflect", "wrap"])
def test_a_tensor_without_axes_is_padded_nowhere(mode: str) -> None:
    check_node(Pad(mode), [np.array(3, np.float32), np.zeros(0, np.int64)], (1,))


@pytest.mark.parametrize("mode", ["constant", "edge", "reflect", "wrap"])
def test_cropping_written(mode: str) -> None:
    for constants in ((1,), ()):
        check_node(Pad(mode), [X, np.array([-1, 0, 1, 0, -2, 1])], constants)


def test_axis_that_starts_over_several_times_written() -> None:
    check_node(Pad("wrap"), [X, np.array([5, 0, 7, 0, 9, 11])], (1,))


def test_padding_of_any_rank_is_refused() -> None:
    text = 'main(%x: float32[*], %n: int64[2]) { %y: float32[*] = Pad "p" (%x, %n) return y = %y }'
    assert refused_to_write(text) == "Pad 'p': pads an input of unknown rank\n  fix: declare the shape"
