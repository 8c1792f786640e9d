"""Nets as files: names, weights, what a file said beside the meaning, and what is refused."""

import numpy as np
import pytest
from formats.openvino.onnx_models import module_of

import whorl
from whorl.errors import SaveError
from whorl.formats.openvino.document import Net
from whorl.formats.openvino.xml.read import read_xml
from whorl.ir.build import Builder
from whorl.ir.graph import Module, Region
from whorl.ir.infer import Inference
from whorl.ir.types import TensorType
from whorl.ops.elementwise.arithmetic import Add, Identity, Mul

FLOAT32 = np.dtype(np.float32)


def written(module, path, **options) -> Net:
    """The net of the file that a module is written to."""
    whorl.save(module, path, **options)
    return read_xml(path.read_bytes(), 64)


def built(*constants: np.ndarray) -> Module:
    """x plus the constants, as y."""
    region = Region("main")
    build = Builder(region, Inference())
    value = region.add_argument("x", TensorType(FLOAT32, (constants[0].shape[0],)))
    for constant in constants:
        value = build.add(Add(), value, build.constant(constant))
    region.results = [value]
    return Module(region, ["y"])


def layers(net: Net, type: str):
    return [layer for layer in net.layers if layer.type == type]


def test_a_constant_is_written_where_it_is_read(tmp_path):
    region = Region("main")
    build = Builder(region, Inference())
    unused = build.constant(np.zeros(1000, np.float32))
    build.add(Identity(), unused)
    x = region.add_argument("x", TensorType(FLOAT32, ()))
    region.results = [build.add(Mul(), x, build.constant(np.array(2, np.float32)))]
    written(Module(region, ["y"]), tmp_path / "m.xml")
    assert (tmp_path / "m.bin").stat().st_size == 4


def test_float16_weights_only_where_they_are_requested_for(tmp_path):
    weight = np.array([1.5, -2.25], np.float32)
    module = built(weight)
    assert not layers(written(module, tmp_path / "m.xml"), "Convert")
    net = written(module, tmp_path / "m.xml", compress_to_fp16=True)
    (convert,) = layers(net, "Convert")
    assert convert.data == {"destination_type": "f32"}
    assert convert.rt_info == {"decompression.version": "0"}
    assert np.array_equal(np.fromfile(tmp_path / "m.bin", np.float16), weight.astype(np.float16))
    feeds = {"x": np.zeros(2, np.float32)}
    assert np.array_equal(whorl.run(tmp_path / "m.xml", feeds)["y"], weight)


def test_weights_beyond_float16_stay_as_they_are(tmp_path):
    net = written(built(np.array([1e6], np.float32)), tmp_path / "m.xml", compress_to_fp16=True)
    assert not layers(net, "Convert")


def test_a_sequence_as_input_is_refused(tmp_path):
    text = "g (seq(float[2]) x) => (int64 n) { n = SequenceLength(x) }"
    with pytest.raises(SaveError) as caught:
        whorl.save(module_of(text), tmp_path / "m.xml")
    assert str(caught.value) == "the input 'x' is seq(float32[2]), and OpenVINO has only tensors"
