"""`whorl opt`: passes over MLIR text; and MLIR files with the other verbs."""

from __future__ import annotations

import io
import sys

import numpy as np
import pytest
from onnx_text import ROLLOUT

SUM = """func.func @f(%x: tensor<2xi32>) -> tensor<*xi32> {
  %a = onnx.Constant dense<[1, 2]> : tensor<2xi32>
  %b = onnx.Constant dense<[3, 4]> : tensor<2xi32>
  %c = "onnx.Add"(%a, %b) : (tensor<2xi32>, tensor<2xi32>) -> tensor<*xi32>
  %d = "onnx.Add"(%c, %x) : (tensor<*xi32>, tensor<2xi32>) -> tensor<*xi32>
  onnx.Return %d : tensor<*xi32>
}
"""
FOLDED = """module {
  func.func @f(%arg0: tensor<2xi32>) -> tensor<2xi32> {
    %0 = onnx.Constant dense<[4, 6]> : tensor<2xi32>
    %1 = "onnx.Add"(%arg0, %0) : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
    onnx.Return %1 : tensor<2xi32>
  }
}
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "f.mlir"
    path.write_text(SUM)
    return path


@pytest.mark.parametrize("dashes", ["-", "--"])
def test_opt_prints_the_text_after_the_passes(whorl, file, dashes):
    report = whorl("opt", f"{dashes}shape-inference", f"{dashes}constprop-onnx", file)
    assert (report.code, report.out, report.err) == (0, FOLDED, "")


def test_opt_without_passes_prints_what_it_read(whorl, file):
    report = whorl("opt", file)
    assert report.code == 0 and report.out.count("onnx.Add") == 2 and "tensor<*xi32>" in report.out


def test_opt_reads_standard_input_and_writes_a_file(whorl, tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.StringIO(SUM))
    report = whorl("opt", "--shape-inference", "--constprop-onnx", "-o", tmp_path / "out.mlir")
    assert report.code == 0 and report.out == "" and (tmp_path / "out.mlir").read_text() == FOLDED


def test_opt_report_counts_what_was_folded(whorl, file):
    report = whorl("opt", "--constprop-onnx", "--onnx-const-prop-report", file)
    assert report.out.endswith(
        "// constprop report (cumulative), entries, 1 total invocations, 4 input elements\n"
        "//   ElementwiseBinary: 1 invocations, 4 input elements\n"
    )


def test_opt_leaves_out_what_is_disabled(whorl, file):
    assert whorl("opt", "--constprop-onnx", "--disable-constant-prop", file).out == whorl("opt", file).out
    report = whorl(
        "opt", "--constprop-onnx", "--onnx-const-prop-disable-pattern=AddConstProp,AddConstCommutative1", file
    )
    assert report.out.count("onnx.Add") == 2


def test_opt_json_has_the_text_and_the_report(whorl, file):
    document = whorl("opt", "--shape-inference", "--constprop-onnx", "--json", file).document
    assert document["text"] == FOLDED and document["report"]["folded"]["ElementwiseBinary"]["invocations"] == 1


def test_opt_goes_on_with_other_pieces_after_an_error(whorl, tmp_path):
    path = tmp_path / "two.mlir"
    path.write_text(SUM.replace("onnx.Add", "onnx.Nope") + "\n// -----\n" + SUM)
    report = whorl("opt", "--shape-inference", "--constprop-onnx", "--split-input-file", path)
    assert report.code == 3 and report.out == FOLDED
    assert report.err.startswith("whorl: two.mlir:4:8: onnx.Nope is no operator that is known")
    path.write_text(SUM + "\n// -----\n" + SUM.replace("onnx.Add", "onnx.Nope"))
    report = whorl("opt", "--split-input-file", path)
    assert report.err.startswith("whorl: two.mlir:13:8: ")
    assert whorl("opt", path).code == 3


def test_opt_wrong_use_is_reported(whorl, file, tmp_path):
    assert whorl("opt", "--onnx-const-prop-expansion-bound=x", file).code == 2
    assert whorl("opt", "--onnx-const-prop-round-fp-to-int=maybe", file).code == 2
    assert whorl("opt", tmp_path / "none.mlir").code == 3


def test_convert_to_text_and_back_keeps_the_results(whorl, saved, tmp_path):
    source = saved(ROLLOUT)
    assert whorl("convert", source, tmp_path / "m.mlir").code == 0
    assert whorl("convert", tmp_path / "m.mlir", tmp_path / "again.onnx").code == 0
    np.savez(tmp_path / "in.npz", count=np.array(4), table=np.arange(12, dtype=np.float32))
    outputs = [
        whorl("run", path, "--input", tmp_path / "in.npz").out
        for path in (source, tmp_path / "again.onnx", tmp_path / "m.mlir")
    ]
    assert outputs[0] == outputs[1] == outputs[2] != ""
    shown = whorl("show", tmp_path / "m.mlir")
    assert shown.code == 0 and "Loop" in shown.out
