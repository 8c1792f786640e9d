"""NonMaxSuppression read and written."""

import numpy as np
import pytest
from formats.openvino.ir_text import constant, layer, net, parameter, result
from formats.openvino.net_text import program_of
from formats.openvino.one_layer import Input, check_layer, check_node, layer_model, read, scalar, whorl_run

from whorl.errors import LoadError, UnsupportedError
from whorl.ops.image.detection import NonMaxSuppression

NUMBERS = np.random.default_rng(19)
CORNERS = np.sort(NUMBERS.random((2, 9, 2, 2)), axis=2).reshape(2, 9, 4).astype(np.float32)
SCORES = NUMBERS.random((2, 3, 9)).astype(np.float32)


@pytest.mark.parametrize("version", [1, 3, 4, 5, 9])
@pytest.mark.parametrize("encoding", ["corner", "center"])
def test_boxes(encoding: str, version: int) -> None:
    limits = [scalar(4), scalar(0.3, np.float32), scalar(0.2, np.float32)]
    for is_sorted in (True, False):
        settings = {"box_encoding": encoding, "sort_result_descending": is_sorted}
        settings |= {"output_type": "i64"} if version > 1 else {}
        check_layer("NonMaxSuppression", version, [CORNERS, SCORES, *limits], settings, dynamic=[False])


def test_a_limit_of_0_leaves_the_best_box_of_each_class() -> None:
    settings = {"box_encoding": "corner", "sort_result_descending": False, "output_type": "i64"}
    limits = [scalar(4), scalar(0, np.float32), scalar(0, np.float32)]
    check_layer("NonMaxSuppression", 9, [CORNERS, SCORES - 0.5, *limits], settings, dynamic=[False])


@pytest.mark.parametrize("constants", [(2, 3, 4), ()], ids=["constant", "computed"])
def test_boxes_written(constants: tuple[int, ...]) -> None:
    limits = [np.array([3]), np.array([0.4], np.float32), np.array([0.1], np.float32)]
    for center in (0, 1):
        check_node(NonMaxSuppression(center), [CORNERS, SCORES, *limits], constants, dynamic=[False])
    check_node(NonMaxSuppression(), [CORNERS, SCORES - 0.5, limits[0]], dynamic=[False])


def test_an_overlap_at_the_limit_remains_written() -> None:
    boxes = np.array([[[0, 0, 1, 1], [0, 0.5, 1, 1.5]]], np.float32)
    limits = [np.array(2), np.array(1 / 3, np.float32)]
    check_node(NonMaxSuppression(), [boxes, np.array([[[1, 0.5]]], np.float32), *limits], (2, 3), dynamic=[False])
    check_node(NonMaxSuppression(), [boxes, np.array([[[1, 0.5]]], np.float32), *limits], dynamic=[False])


@pytest.mark.parametrize(
    "limit", [scalar(1 / 3, np.float32), np.array(1 / 3, np.float32)], ids=["constant", "computed"]
)
def test_an_overlap_at_the_limit_goes(limit: Input) -> None:
    boxes = np.array([[[0, 0, 1, 1], [0, 0.5, 1, 1.5]]], np.float32)
    inputs = [boxes, np.array([[[1, 0.5]]], np.float32), scalar(2), limit, scalar(0, np.float32)]
    settings = {"box_encoding": "corner", "sort_result_descending": False, "output_type": "i64"}
    check_layer("NonMaxSuppression", 9, inputs, settings, dynamic=[False])


def test_scores_lowered_by_overlap_are_refused() -> None:
    layers = [parameter(0, "1,2,4"), parameter(1, "1,1,2"), constant(2, 0, 8, "", "i64")]
    layers += [constant(3, 8, 4, ""), constant(4, 8, 4, ""), constant(5, 12, 4, "")]
    layers += [layer(6, "NonMaxSuppression", 6, ("I64", "FP32", "I64"), "opset9", name="n"), result(7)]
    wires = " ".join(f"{k}:0-6:{k}" for k in range(6)) + " 6:6-7:0"
    numbers = np.array([2], np.int64).tobytes() + np.array([0.5, 0.25], np.float32).tobytes()
    with pytest.raises(UnsupportedError) as caught:
        program_of(net(layers, wires), numbers)
    assert str(caught.value) == (
        "NonMaxSuppression 'n' (line 10): OV501: lowers scores by overlap\n  fix: make soft_nms_sigma 0"
    )
    assert "NonMaxSuppression" in program_of(net(layers, wires), numbers[:12] + bytes(4))


@pytest.mark.parametrize("version", [1, 5])
def test_no_number_of_boxes_allows_none(version: int) -> None:
    """Without the input that limits them each class has 0 boxes."""
    module = read(layer_model("NonMaxSuppression", version, [CORNERS, SCORES], {"sort_result_descending": False}))
    outputs = whorl_run(module, [CORNERS, SCORES])
    assert [output.shape for output in outputs] == [(0, 3), (0, 3), (1,)][: 1 if version == 1 else 3]


def test_encoding_that_is_none_is_refused() -> None:
    layers = [parameter(0, "1,2,4"), parameter(1, "1,1,2")]
    layers += [layer(2, "NonMaxSuppression", 2, ("I64",), name="n", box_encoding="edges"), result(3)]
    with pytest.raises(LoadError) as caught:
        program_of(net(layers, "0:0-2:0 1:0-2:1 2:2-3:0"))
    assert str(caught.value) == (
        "NonMaxSuppression 'n' (line 6): OV501: box_encoding is 'edges'\n  fix: choose from corner, center"
    )
