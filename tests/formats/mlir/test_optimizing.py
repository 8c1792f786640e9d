"""Passes over MLIR text: text in, text out."""

from __future__ import annotations

import pytest

from whorl.errors import LoadError
from whorl.formats.mlir.optimizing import Optimized, TextOptions, optimize_text
from whorl.formats.options import LoadOptions

FUNCTION = """func.func @f(%x: tensor<?x2xf32> {onnx.name = "x"}) -> tensor<?x?xf32> {
  %c = onnx.Constant dense<[1.0, 2.0]> : tensor<2xf32>
  %n = "onnx.Neg"(%c) : (tensor<2xf32>) -> tensor<2xf32>
  %a = "onnx.Add"(%x, %n) {onnx_node_name = "add"} : (tensor<?x2xf32>, tensor<2xf32>) -> tensor<?x?xf32> loc("here")
  %u = "onnx.Exp"(%a) : (tensor<?x?xf32>) -> tensor<?x?xf32>
  onnx.Return %a : tensor<?x?xf32>
}
"""
BAD = "func.func @g() {\n  nonsense\n}\n"


def optimized(text: str, *passes: str, split: bool = False, locations: bool = False) -> Optimized:
    return optimize_text(text, "m.mlir", TextOptions(passes, split=split, locations=locations), LoadOptions())


def operations(text: str) -> list[str]:
    return [line.partition('"')[2].partition('"')[0] for line in text.splitlines() if '"onnx.' in line]


def test_no_pass_prints_what_was_read() -> None:
    text = optimized(FUNCTION).text
    assert operations(text) == ["onnx.Neg", "onnx.Add", "onnx.Exp"]
    assert optimized(text).text == text


def test_inference_fills_in_types_and_ones_of_the_head() -> None:
    text = optimized(FUNCTION, "shape-inference").text
    assert '"onnx.Exp"(%2) : (tensor<?x2xf32>) -> tensor<?x2xf32>' in text
    assert '@f(%arg0: tensor<?x2xf32> {onnx.name = "x"}) -> tensor<?x2xf32> {' in text


def test_constants_are_folded_and_counted() -> None:
    result = optimized(FUNCTION, "constprop-onnx")
    assert operations(result.text) == ["onnx.Add"]
    assert "dense<[-1.000000e+00, -2.000000e+00]>" in result.text
    tally = result.report.folded["ElementwiseUnary"]
    assert (tally.invocations, tally.elements) == (1, 2)


def test_canonical_form_drops_what_is_not_used_and_folds_nothing() -> None:
    assert operations(optimized(FUNCTION, "canonicalize").text) == ["onnx.Neg", "onnx.Add"]


def test_counts_of_several_functions_are_added() -> None:
    result = optimized(FUNCTION + FUNCTION.replace("@f", "@h"), "constprop-onnx")
    assert result.report.folded["ElementwiseUnary"].invocations == 2


def test_locations_are_printed_where_they_are_requested_for() -> None:
    text = optimized(FUNCTION, locations=True).text
    assert '#loc3 = loc("here")' in text
    assert "loc(" not in optimized(FUNCTION).text


def test_error_of_one_text_is_raised() -> None:
    with pytest.raises(LoadError) as refused:
        optimized(f"{FUNCTION}// -----\n{BAD}")
    assert str(refused.value) == "m.mlir:10:3: nonsense is not known in this form"


def test_pieces_go_on_where_one_is_wrong() -> None:
    result = optimized(f"{FUNCTION}// -----\n{BAD}// -----\n{FUNCTION.replace('@f', '@h')}", split=True)
    assert [str(error) for error in result.errors] == ["m.mlir:10:3: nonsense is not known in this form"]
    assert [part.count("func.func @") for part in result.text.split("// -----\n")] == [1, 1]


def test_function_that_is_only_declared_remains() -> None:
    declaration = "func.func private @d(tensor<2xf32>) -> tensor<2xf32>"
    assert declaration in optimized(f"{FUNCTION}{declaration}\n", "constprop-onnx", "canonicalize").text
