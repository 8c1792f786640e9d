"""Attention in opsets 23 and 24."""

import numpy as np
import onnx
import pytest
from single_node import feeds, onnxruntime_run, single_node

import whorl
from whorl.errors import SaveError
from whorl.ops.attention.dot_product import Attention


def tensors(queries=2, keys=3):
    rng = np.random.default_rng(0)
    return [rng.normal(size=(1, 1, length, 4)).astype(np.float32) for length in (queries, keys, keys)]


@pytest.mark.parametrize("past", [0, 2])
def test_mask_of_length_1_is_broadcast_in_23_and_padded_later(past):
    q, k, v = tensors()
    cache = [k[:, :, :past], v[:, :, :past]] if past else [None, None]
    mask = np.array([[True], [False]])
    inputs = [q, k, v, mask, *cache]
    all_keys = np.broadcast_to(mask, (2, 3 + past))
    with np.errstate(all="ignore"):
        expected = Attention().run(q, k, v, all_keys, *cache)[0]
    broadcast = whorl.run(single_node("Attention", inputs, 23), feeds(inputs))["y0"]
    np.testing.assert_array_equal(broadcast, expected)
    padded = whorl.run(single_node("Attention", inputs, 24), feeds(inputs))["y0"]
    np.testing.assert_allclose(padded[0, 0, 0], (cache[1] if past else v)[0, 0, 0], rtol=1e-6)


@pytest.mark.parametrize("past", [0, 2])
@pytest.mark.parametrize("kind", [np.bool_, np.float32])
def test_short_mask_is_padded_when_written_for_23(tmp_path, past, kind):
    q, k, v = tensors()
    cache = [k[:, :, :past], v[:, :, :past]] if past else [None, None]
    inputs = [q, k, v, np.ones((2, 2)).astype(kind), *cache]
    module = whorl.load(single_node("Attention", inputs, 24, 3, is_causal=1))
    whorl.save(module, tmp_path / "m.onnx", opset=23)
    written = onnx.load(tmp_path / "m.onnx")
    assert "Pad" in {node.op_type for node in written.graph.node}
    expected = whorl.run(module, feeds(inputs))["y0"]
    np.testing.assert_array_equal(whorl.run(written, feeds(inputs))["y0"], expected)
    np.testing.assert_allclose(onnxruntime_run(written, feeds(inputs))[0], expected, rtol=1e-5, atol=1e-6)


def test_mask_over_all_keys_is_written_for_23_as_it_is(tmp_path):
    inputs = [*tensors(), np.ones((2, 3), np.bool_)]
    module = whorl.load(single_node("Attention", inputs, 24, softmax_precision=1))
    whorl.save(module, tmp_path / "m.onnx", opset=23)
    (node,) = onnx.load(tmp_path / "m.onnx").graph.node
    assert node.op_type == "Attention"
    np.testing.assert_array_equal(
        whorl.run(tmp_path / "m.onnx", feeds(inputs))["y0"], whorl.run(module, feeds(inputs))["y0"]
    )


def test_windows_need_opset_25(tmp_path):
    inputs = tensors()
    module = whorl.load(single_node("Attention", inputs, 25, left_window_size=1))
    with pytest.raises(SaveError) as caught:
        whorl.save(module, tmp_path / "m.onnx", opset=24)
    assert "left_window_size=1" in str(caught.value) and "opset 25" in str(caught.value)
    with pytest.raises(SaveError) as caught:
        whorl.save(module, tmp_path / "m.onnx", opset=23)
    assert str(caught.value) == ("Attention 'y0': attends through a window\n  fix: opset 25 or later can say it")


def test_padded_keys_need_opset_24(tmp_path):
    inputs = [*tensors(), None, None, None, np.array([2])]
    module = whorl.load(single_node("Attention", inputs, 24))
    with pytest.raises(SaveError, match="nonpad_kv_seqlen"):
        whorl.save(module, tmp_path / "m.onnx", opset=23)
    whorl.save(module, tmp_path / "m.onnx", opset=24)
    expected = whorl.run(module, feeds(inputs))["y0"]
    np.testing.assert_array_equal(whorl.run(tmp_path / "m.onnx", feeds(inputs))["y0"], expected)
