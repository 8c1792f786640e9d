"""DFT with its axis as an attribute."""

import numpy as np
import onnx
import pytest
from single_node import feeds, onnxruntime_run, single_node

import whorl
from whorl.errors import SaveError
from whorl.ops.signal.fourier import DFT


@pytest.mark.parametrize("axis", [None, 0, 2])
def test_axis_attribute_is_read_and_written(tmp_path, axis):
    x = np.random.default_rng(0).normal(size=(3, 4, 5, 1)).astype(np.float32)
    inputs = [x, np.array(6)]
    attributes = {} if axis is None else {"axis": axis}
    module = whorl.load(single_node("DFT", inputs, 17, onesided=1, **attributes))
    expected = DFT(onesided=1).run(x, np.array(6), np.array(1 if axis is None else axis))
    np.testing.assert_array_equal(whorl.run(module, feeds(inputs))["y0"], expected)
    whorl.save(module, tmp_path / "m.onnx", opset=19)
    (node,) = onnx.load(tmp_path / "m.onnx").graph.node
    assert len(node.input) == 2
    (theirs,) = onnxruntime_run(onnx.load(tmp_path / "m.onnx"), feeds(inputs))
    np.testing.assert_allclose(theirs, expected, rtol=1e-4, atol=1e-5)


def test_default_axis_is_the_last_of_the_signal(tmp_path):
    x = np.random.default_rng(1).normal(size=(3, 4, 5, 1)).astype(np.float32)
    module = whorl.load(single_node("DFT", [x], 20))
    whorl.save(module, tmp_path / "m.onnx", opset=17)
    np.testing.assert_array_equal(whorl.run(tmp_path / "m.onnx", feeds([x]))["y0"], DFT().run(x))


def test_computed_axis_needs_opset_20(tmp_path):
    inputs = [np.ones((3, 4, 1), np.float32), None, np.array(1)]
    module = whorl.load(single_node("DFT", inputs, 20))
    with pytest.raises(SaveError, match=r"axis.* is computed at run time\n  fix: opset 20 or later can say it"):
        whorl.save(module, tmp_path / "m.onnx", opset=19)


def test_dft_needs_opset_17(tmp_path):
    module = whorl.load(single_node("DFT", [np.ones((3, 4, 1), np.float32)], 20))
    with pytest.raises(SaveError, match="DFT came with version"):
        whorl.save(module, tmp_path / "m.onnx", opset=16)
