"""Pooling to a fixed number of windows."""

import numpy as np
import pytest
from formats.openvino.ir_text import layer, net, parameter, result
from formats.openvino.net_text import program_of
from formats.openvino.one_layer import check_layer, fixed

from whorl.errors import LoadError

X = np.random.default_rng(9).standard_normal((2, 3, 8, 7)).astype(np.float32)


@pytest.mark.parametrize("sizes", [(3, 2), (7, 9)], ids=str)
def test_pools_to_a_number_of_windows(sizes: tuple[int, ...]) -> None:
    check_layer("AdaptiveAvgPool", 8, [X, fixed(*sizes)], rtol=1e-4)
    check_layer("AdaptiveMaxPool", 8, [X, fixed(*sizes)], {"index_element_type": "i32"})


def test_pools_of_other_ranks_to_a_number_of_windows() -> None:
    check_layer("AdaptiveAvgPool", 8, [X[0], fixed(3)], rtol=1e-4)
    check_layer("AdaptiveMaxPool", 8, [X[None], fixed(2, 3, 4)], {"index_element_type": "i32"}, dynamic=[False])


def test_numbers_of_windows_may_be_computed_or_short() -> None:
    check_layer("AdaptiveAvgPool", 8, [X, np.array([2, 3])], rtol=1e-4, dynamic=[False])
    check_layer("AdaptiveAvgPool", 8, [X, fixed(2, 3, dtype=np.int32)], rtol=1e-4)


def test_first_of_equal_elements_is_chosen() -> None:
    for number in (1, -np.inf):
        x = np.full((1, 1, 4, 4), number, np.float32)
        check_layer("AdaptiveMaxPool", 8, [x, fixed(2, 2)], {"index_element_type": "i32"})


@pytest.mark.parametrize("type", ["AdaptiveAvgPool", "AdaptiveMaxPool"])
@pytest.mark.parametrize(
    ("shape", "count", "message"),
    [
        ("1,2,8", "2", "pools float32[1, 2, 8] to 2 lengths\n  fix: give one for each axis but the first two"),
        ("1,2,8,8", "?", "pools to a shape of unknown length\n  fix: declare its length"),
    ],
)
def test_windows_that_make_no_sense_are_refused(type: str, shape: str, count: str, message: str) -> None:
    layers = [parameter(0, shape), parameter(1, count, "i64")]
    layers += [layer(2, type, 2, version="opset8", name="p"), result(3)]
    with pytest.raises(LoadError) as caught:
        program_of(net(layers, "0:0-2:0 1:0-2:1 2:2-3:0"))
    assert str(caught.value).startswith(f"{type} 'p' (line 6): OV501: {message}")
