"""`-` as the name of a model: standard input and standard output."""

import io
import sys
from pathlib import Path

import onnx
import pytest
from onnx_text import ROLLOUT

EXAMPLES = Path(__file__).parents[2] / "examples"
TEXT = b'<ir_version: 10, opset_import: ["" : 21]>\nmain (float[n] x) => (float[n] y) { y = Abs (x) }'
MLIR = b"module { func.func @main_graph(%x: tensor<2xf32>) -> tensor<2xf32> { return %x : tensor<2xf32> } }"
XML = (
    b"<?xml version='1.0'?><net name='m' version='11'><layers>"
    b"<layer id='0' name='x' type='Parameter' version='opset1'><data shape='2' element_type='f32'/>"
    b"<output><port id='0' precision='FP32'><dim>2</dim></port></output></layer>"
    b"<layer id='1' name='y' type='Result' version='opset1'><input><port id='0'><dim>2</dim></port></input></layer>"
    b"</layers><edges><edge from-layer='0' from-port='0' to-layer='1' to-port='0'/></edges></net>"
)


class Stream(io.TextIOWrapper):
    """A standard stream over bytes in memory."""

    def __init__(self, data: bytes = b"") -> None:
        super().__init__(io.BytesIO(data), encoding="utf-8")

    @property
    def data(self) -> bytes:
        self.flush()
        return self.buffer.getvalue()


@pytest.mark.parametrize(
    ("data", "shown"),
    [
        (ROLLOUT.SerializeToString(), "Loop 'rollout'"),
        (TEXT, "1 Abs"),
        (MLIR, "no loops and no branches"),
        (XML, "input   x: float32[2]"),
        ((EXAMPLES / "fitzhugh_nagumo.json").read_bytes(), "FN"),
    ],
    ids=["onnx", "text", "mlir", "openvino", "mdf"],
)
def test_model_of_any_format_comes_from_standard_input(whorl, monkeypatch, data, shown):
    monkeypatch.setattr(sys, "stdin", Stream(data))
    report = whorl("show", "-")
    assert (report.code, report.err) == (0, "") and shown in report.out


def test_model_goes_to_standard_output_and_the_report_to_standard_error(whorl, monkeypatch, saved):
    stream = Stream()
    monkeypatch.setattr(sys, "stdout", stream)
    report = whorl("convert", saved(ROLLOUT), "-", "--opset", "17")
    assert report.code == 0 and "nodes" in report.err
    assert onnx.load_from_string(stream.data).opset_import[0].version == 17


def test_model_passes_through_where_both_are_streams(whorl, monkeypatch):
    stream = Stream()
    monkeypatch.setattr(sys, "stdin", Stream(TEXT))
    monkeypatch.setattr(sys, "stdout", stream)
    assert whorl("optimize", "-", "-").code == 0
    assert [node.op_type for node in onnx.load_from_string(stream.data).graph.node] == ["Abs"]


def test_failure_writes_nothing_to_standard_output(whorl, monkeypatch):
    stream = Stream()
    monkeypatch.setattr(sys, "stdin", Stream(b"\x08\x0a\xff"))
    monkeypatch.setattr(sys, "stdout", stream)
    assert whorl("convert", "-", "-").code == 3
    assert stream.data == b""


def test_document_and_model_do_not_share_standard_output(whorl, saved):
    report = whorl("convert", saved(ROLLOUT), "-", "--json")
    assert (report.code, report.document["error"]["kind"]) == (2, "UsageError")
    assert report.document["error"]["fix"] == "name a file for the model"
