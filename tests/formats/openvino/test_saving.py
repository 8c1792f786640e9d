"""IR files out: names, states, defaults; never a half-written file."""

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
from whorl.ir.graph import Module, Region
from whorl.ir.infer import Inference
from whorl.ir.types import TensorType
from whorl.ops.elementwise.arithmetic import Add

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


def test_an_input_with_a_default_becomes_a_constant(tmp_path):
    text = "g (float[2] x, float[2] w) => (float[2] y) <float[2] w = {1, 2}> { y = Add(x, w) }"
    net = written(module_of(text), tmp_path / "m.xml")
    assert [layer.name for layer in layers(net, "Parameter")] == ["x"]


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
