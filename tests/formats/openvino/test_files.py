"""Loading IR through the public interface: by path, as bytes, with another's meaning; and the verbs that take it."""

import json

import numpy as np
import pytest
from formats.openvino.ir_text import (
    ADD,
    COUNTING_WEIGHTS,
    constant,
    counting,
    graph,
    layer,
    net,
    parameter,
    result,
)

import whorl
from whorl.cli import main
from whorl.errors import LoadError

X = np.array([1, 2], np.float32)


@pytest.fixture
def path(tmp_path):
    (tmp_path / "m.xml").write_bytes(counting(2))
    (tmp_path / "m.bin").write_bytes(COUNTING_WEIGHTS)
    return tmp_path / "m.xml"


def test_path_finds_the_weights_beside_it(path):
    for source in (path, str(path)):
        assert whorl.run(source, {"parameter0": X})["loop1"].tolist() == [5, 6]
    assert whorl.InferenceSession(path).get_inputs()[0].shape == [2]


@pytest.mark.parametrize("start", [b"", b"\xef\xbb\xbf", b" \n"])
def test_bytes_that_begin_as_xml_are_ir(start):
    data = start + ADD.removeprefix(b'<?xml version="1.0"?>\n')
    assert whorl.InferenceSession(data).run(None, {"x": X, "y": X})[0].tolist() == [2, 4]


def test_weights_are_passed_as_bytes():
    assert whorl.run(whorl.load(counting(1), weights=COUNTING_WEIGHTS), {"parameter0": X})["loop1"].tolist() == [3, 4]


def test_weights_may_lie_elsewhere(path, tmp_path):
    (tmp_path / "m.bin").rename(tmp_path / "other")
    assert whorl.run(whorl.load(path, weights=tmp_path / "other"), {"parameter0": X})["loop1"].tolist() == [5, 6]


def test_missing_file_is_refused(tmp_path):
    with pytest.raises(LoadError, match=r"OV101: cannot read '.*none.xml': No such file"):
        whorl.load(tmp_path / "none.xml")


def test_unknown_meaning_is_refused():
    with pytest.raises(LoadError, match="there is no compat 'gpu'\n  fix: use 'openvino-cpu', or leave it out"):
        whorl.load(ADD, compat="gpu")
    options = whorl.SessionOptions()
    options.compat = "gpu"
    with pytest.raises(LoadError, match="there is no compat"):
        whorl.InferenceSession(ADD, options)


def test_metadata_keeps_what_only_the_file_says():
    remaining = whorl.load(ADD).metadata
    assert remaining["graph_name"] == "n" and remaining["openvino"]["version"] == 11
    assert remaining["openvino"]["inputs"]["x"] == {"names": (), "layer": "x", "shape": "2", "rt_info": {}}


def test_verbs_take_ir(path, tmp_path, capsys):
    passed = ["--random", "1"]
    assert main(["run", str(path), "--compat", "openvino-cpu", *passed]) == 0
    assert main(["show", str(path)]) == 0
    assert main(["check", str(path), "--compat", "openvino-cpu"]) == 0
    assert main(["convert", str(path), str(tmp_path / "m.onnx")]) == 0
    assert main(["optimize", str(path), str(tmp_path / "better.onnx")]) == 0
    assert "Loop 'loop1'" in capsys.readouterr().out
    for name in ("m.onnx", "better.onnx"):
        assert whorl.run(tmp_path / name, {"parameter0": X})["loop1"].tolist() == [5, 6]


def test_trace_and_meaning_are_two_options(path, tmp_path):
    trace = tmp_path / "trace.json"
    assert main(["run", str(path), "--random", "1", "--compat", "openvino-cpu", "--profile", str(trace)]) == 0
    assert json.loads(trace.read_text(encoding="utf-8"))


def test_other_meanings_are_refused_with_what_was_meant(path, capsys):
    for verb in ("show", "run", "check"):
        assert main([verb, str(path), "--compat", "ov_cpu"]) == 2
        text = "whorl: there is no --compat 'ov_cpu'\n  fix: did you mean --compat openvino-cpu?\n"
        assert capsys.readouterr().err == text


def test_meaning_of_a_model_that_is_no_ir_is_refused(path, tmp_path, capsys):
    assert main(["convert", str(path), str(tmp_path / "m.onnx")]) == 0
    assert main(["show", str(tmp_path / "m.onnx"), "--compat", "openvino-cpu"]) == 2
    text = "whorl: --compat applies to OpenVINO IR, not to ONNX\n  fix: leave out --compat\n"
    assert capsys.readouterr().err == text


def test_compare_gives_openvino_the_file_itself(path, capsys):
    pytest.importorskip("openvino")
    assert main(["compare", str(path), "--against", "openvino,onnxruntime", "--random", "1"]) == 0
    assert "openvino: loop1: equal" in capsys.readouterr().out


def strange_branch() -> bytes:
    """y = Relu(x); a layer of a type that nobody knows stands in the branch that is not taken."""
    odd = graph([parameter(0), layer(1, "Strange", 1, name="odd"), result(2)], "0:0-1:0 1:1-2:0")
    relu = graph([parameter(0), layer(1, "ReLU", 1), result(2)], "0:0-1:0 1:1-2:0")
    entry = '<input external_port_id="1" internal_layer_id="0"/><output external_port_id="2" internal_layer_id="2"/>'
    inside = "".join(
        f"<{name}_port_map>{entry}</{name}_port_map><{name}_body>{body}</{name}_body>"
        for name, body in (("then", odd), ("else", relu))
    )
    choice = layer(1, "If", 2, version="opset8", inside=inside, name="y")
    layers = [parameter(0, name="x"), constant(3, 0, 1, "", "boolean"), choice, result(2)]
    return net(layers, "3:0-1:0 0:0-1:1 1:2-2:0")


def test_compare_goes_on_where_a_model_has_no_onnx_form(tmp_path, capsys):
    (tmp_path / "m.xml").write_bytes(strange_branch())
    (tmp_path / "m.bin").write_bytes(b"\0")
    assert main(["compare", str(tmp_path / "m.xml"), "--against", "onnxruntime", "--random", "1"]) == 1
    message = capsys.readouterr().out
    assert "onnxruntime: unsupported: OpaqueLayer 'odd'" in message and "that ONNX does not have" in message
