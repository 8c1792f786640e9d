"""Nets as files: names, weights, what a file said beside the meaning, and what is refused."""

import numpy as np
import onnx
import pytest
from formats.openvino.onnx_models import HEADER, module_of

import whorl
from whorl.cli import main
from whorl.errors import SaveError
from whorl.formats.openvino.document import Net
from whorl.formats.openvino.xml.read import read_xml
from whorl.ir.build import Builder
from whorl.ir.dtypes import BY_NAME, STRING
from whorl.ir.elements.base import Leaf
from whorl.ir.elements.mapped import mapped
from whorl.ir.graph import Module, Region
from whorl.ir.infer import Inference
from whorl.ir.types import TensorType
from whorl.ops.core.opaque import OpaqueLayer
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


def test_inputs_and_outputs_are_tensor_names(tmp_path):
    net = written(module_of("g (float[N,2] x) => (float[N,2] y) { y = Neg(x) }"), tmp_path / "m.xml")
    (parameter,), (result,), (negative,) = (layers(net, type) for type in ("Parameter", "Result", "Negative"))
    assert parameter.data == {"shape": "?,2", "element_type": "f32"}
    assert parameter.outputs[0].names == ("x",)
    assert result.output_names == negative.outputs[0].names == ("y",)
    assert (net.name, net.version) == ("g", 11)


def test_an_output_that_is_an_input_or_another_output_has_a_layer_of_its_own(tmp_path):
    text = "g (float[2] x) => (float[2] a, float[2] b, float[2] c) { a = Neg(x) b = Identity(a) c = Identity(x) }"
    net = written(module_of(text), tmp_path / "m.xml")
    named = {name: layer.type for layer in net.layers for port in layer.outputs for name in port.names}
    assert named == {"x": "Parameter", "a": "Negative", "b": "Identity", "c": "Identity"}


def test_equal_weights_are_kept_once(tmp_path):
    weight = np.arange(4, dtype=np.float32)
    net = written(built(weight, weight.copy(), weight + 1), tmp_path / "m.xml")
    places = [(layer.data["offset"], layer.data["size"]) for layer in layers(net, "Const")]
    assert places == [("0", "16"), ("0", "16"), ("16", "16")]
    assert (tmp_path / "m.bin").read_bytes() == weight.tobytes() + (weight + 1).tobytes()


def test_a_constant_is_written_where_it_is_read(tmp_path):
    region = Region("main")
    build = Builder(region, Inference())
    unused = build.constant(np.zeros(1000, np.float32))
    build.add(Identity(), unused)
    x = region.add_argument("x", TensorType(FLOAT32, ()))
    region.results = [build.add(Mul(), x, build.constant(np.array(2, np.float32)))]
    written(Module(region, ["y"]), tmp_path / "m.xml")
    assert (tmp_path / "m.bin").stat().st_size == 4


def test_elements_that_are_computed_as_they_are_read_are_written_block_by_block(tmp_path):
    sizes = []

    def double(block: np.ndarray) -> np.ndarray:
        sizes.append(block.size)
        return block * 2

    source = np.arange(1 << 20, dtype=np.float32)
    written(built(mapped(double, [Leaf(source)], FLOAT32, source.shape)), tmp_path / "m.xml")  # type: ignore[arg-type]
    assert max(sizes) < 1 << 18
    assert np.array_equal(np.fromfile(tmp_path / "m.bin", np.float32), source * 2)


def test_float16_weights_only_where_they_are_asked_for(tmp_path):
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


@pytest.mark.parametrize(
    "dtype", ["int4", "uint4", "uint2", "float4e2m1", "bfloat16", "float8e4m3fn", "bool", "string"]
)
def test_constants_of_every_type_come_back(dtype, tmp_path):
    if BY_NAME[dtype] == STRING:
        value = np.array([["ab", ""], ["é", "xyz"]], object)
    else:
        value = np.array([[0, 1, 1], [1, 0, 1]]).astype(BY_NAME[dtype])
    region = Region("main")
    build = Builder(region, Inference())
    region.results = [build.add(Identity(), build.constant(value))]
    whorl.save(Module(region, ["y"]), tmp_path / "m.xml")
    found = whorl.run(tmp_path / "m.xml", {})["y"]
    assert (found.dtype, found.tolist()) == (value.dtype, value.tolist())


def test_an_input_with_a_default_becomes_a_constant(tmp_path):
    text = "g (float[2] x, float[2] w) => (float[2] y) <float[2] w = {1, 2}> { y = Add(x, w) }"
    net = written(module_of(text), tmp_path / "m.xml")
    assert [layer.name for layer in layers(net, "Parameter")] == ["x"]


def test_a_layer_of_unknown_type_is_written_as_it_was(tmp_path):
    region = Region("main")
    build = Builder(region, Inference())
    type = TensorType(FLOAT32, (2,))
    op = OpaqueLayer("Novel", "extension", (("alpha", "0.5"),), (type, type), (("note.version", "0"),), (("p",), ()))
    x = region.add_argument("x", type)
    region.results = build.add_many(op, [x], ["p", "q"], name="novel")
    net = written(Module(region, ["p", "q"]), tmp_path / "m.xml")
    (layer,) = layers(net, "Novel")
    assert (layer.version, layer.data, layer.rt_info) == ("extension", {"alpha": "0.5"}, {"note.version": "0"})
    assert [port.names for port in layer.outputs] == [("p",), ("q",)]


def test_what_a_file_says_of_itself_is_written_back(tmp_path):
    xml = """<net name="n" version="11"><layers>
    <layer id="0" name="first" type="Parameter" version="opset1"><data shape="1..4,2" element_type="f32"/>
      <output><port id="0" precision="FP32" names="a,b\\,c"><dim>-1</dim><dim>2</dim></port></output></layer>
    <layer id="1" name="second" type="ReLU" version="opset1">
      <rt_info><attribute name="note" version="0" value="v"/></rt_info>
      <input><port id="0" precision="FP32"><dim>-1</dim><dim>2</dim></port></input>
      <output><port id="1" precision="FP32" names="r"><dim>-1</dim><dim>2</dim></port></output></layer>
    <layer id="2" name="end" type="Result" version="opset1" output_names="r">
      <input><port id="0" precision="FP32"><dim>-1</dim><dim>2</dim></port></input></layer>
    </layers><edges><edge from-layer="0" from-port="0" to-layer="1" to-port="0"/>
    <edge from-layer="1" from-port="1" to-layer="2" to-port="0"/></edges>
    <rt_info><a><b value="1"/></a></rt_info></net>"""
    net = written(whorl.load(xml.encode()), tmp_path / "m.xml")
    parameter, relu, result = net.layers
    assert (parameter.name, parameter.data["shape"]) == ("first", "1..4,2")
    assert parameter.outputs[0].names == ("a", "b,c")
    assert (relu.name, relu.rt_info) == ("second", {"note.version": "0", "note.value": "v"})
    assert (result.name, result.output_names) == ("end", ("r",))
    assert net.rt_info == {"a/b": "1"}


def test_an_op_without_a_form_is_refused_with_its_place(tmp_path):
    text = """g (int64 n) => (float[K,2] y) {
      y = Loop(n, "") <body = b (int64 i, bool c) => (bool c2, float[2] e) {
        e = RandomNormal<shape = [2], seed = 1.0>() c2 = Identity(c) }> }"""
    with pytest.raises(SaveError) as caught:
        whorl.save(module_of(text), tmp_path / "m.xml")
    assert str(caught.value) == (
        "RandomNormal 'e' in body of Loop: OpenVINO has no form for RandomNormal\n"
        "  fix: write it as .onnx, or without this op"
    )


def test_a_sequence_as_input_is_refused(tmp_path):
    text = "g (seq(float[2]) x) => (int64 n) { n = SequenceLength(x) }"
    with pytest.raises(SaveError) as caught:
        whorl.save(module_of(text), tmp_path / "m.xml")
    assert str(caught.value) == "the input 'x' is seq(float32[2]), and OpenVINO has only tensors"


def test_a_failure_leaves_the_files_that_were_there(tmp_path):
    whorl.save(built(np.ones(2, np.float32)), tmp_path / "m.xml")
    before = [(tmp_path / name).read_bytes() for name in ("m.xml", "m.bin")]
    module = built(np.zeros(3, np.float32))
    module.output_names = ["a\x01"]
    with pytest.raises(SaveError) as caught:
        whorl.save(module, tmp_path / "m.xml")
    assert str(caught.value) == "'a\\x01' holds a character that XML cannot say\n  fix: rename it"
    assert [(tmp_path / name).read_bytes() for name in ("m.xml", "m.bin")] == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["m.bin", "m.xml"]


def test_convert_writes_ir(tmp_path, capsys):
    path = tmp_path / "m.onnx"
    onnx.save(onnx.parser.parse_model(HEADER + "g (float[2] x) => (float[2] y) { y = Neg(x) }"), path)
    assert main(["convert", str(path), str(tmp_path / "m.xml")]) == 0
    assert main(["convert", str(tmp_path / "m.xml"), str(tmp_path / "back.onnx")]) == 0
    x = np.array([1, -2], np.float32)
    assert np.array_equal(whorl.run(tmp_path / "back.onnx", {"x": x})["y"], -x)
