"""Constant propagation as onnx-mlir does it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import whorl
from whorl.formats.mlir.constprop import ConstpropOptions
from whorl.formats.mlir.optimizing import TextOptions, optimize_text
from whorl.formats.mlir.parser import parse_program, split_text
from whorl.formats.mlir.reader import read_function
from whorl.formats.options import LoadOptions
from whorl.ir.graph import Module, Value
from whorl.ir.types import TensorType

FOLDED = ("casts", "constants", "elementwise", "matrices", "movement", "programs", "reductions", "sums_and_products")
DEFINED_ELSEWHERE = {"floats_out_of_range_saturate", "quotient_by_zero_is_the_dividend", "clip_1", "clip_2", "clip_3"}


def modules(text: str) -> dict[str, Module]:
    program = parse_program(text, "case.mlir")
    return {f.name: read_function(program, f, LoadOptions()).module for f in program.functions}


def rank_of(value: Value) -> int | None:
    assert isinstance(value.type, TensorType)
    return value.type.rank


def feeds(module: Module) -> dict[str, np.ndarray]:
    """Small numbers for every input; an unknown length is 2."""
    supplied = {}
    for index, value in enumerate(module.main.arguments):
        assert isinstance(value.type, TensorType)
        shape = tuple(d if isinstance(d, int) else 2 for d in value.type.shape)
        supplied[value.name] = (np.arange(np.prod(shape, dtype=int)).reshape(shape) + index + 1).astype(
            value.type.dtype
        )
    return supplied


@pytest.mark.parametrize("name", FOLDED)
def test_folding_computes_what_running_does(name: str) -> None:
    text = (Path(__file__).parent / "cases" / f"{name}.mlir").read_text()
    options = TextOptions(("shape-inference", "constprop-onnx"))
    for _, piece in split_text(text):
        after = modules(optimize_text(piece, "case.mlir", options, LoadOptions()).text)
        for function, module in modules(piece).items():
            if function in DEFINED_ELSEWHERE or any(rank_of(value) is None for value in module.main.arguments):
                continue
            supplied = feeds(module)
            expected = list(whorl.run(module, supplied).values())
            settings = list(
                whorl.run(
                    after[function], dict(zip(supplied_names(after[function]), supplied.values(), strict=True))
                ).values()
            )
            for a, b in zip(expected, settings, strict=True):
                assert a.dtype == b.dtype and a.shape == b.shape, function
                assert same(a, b), function


def supplied_names(module: Module) -> list[str]:
    return [value.name for value in module.main.arguments]


def same(a: np.ndarray, b: np.ndarray) -> bool:
    """Bit for bit; sums and products of floats are regrouped, which may change the last one."""
    if a.dtype == object or a.dtype.kind in "iub":
        return np.array_equal(a, b)
    return np.allclose(a.astype(np.float64), b.astype(np.float64), rtol=1e-6, equal_nan=True)


CHAIN = """func.func @f(%x: tensor<2xf32>) -> tensor<2xf32> {
  %a = onnx.Constant dense<[1.0, 2.0]> : tensor<2xf32>
  %b = onnx.Constant dense<3.0> : tensor<2xf32>
  %s = "onnx.Add"(%x, %a) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %t = "onnx.Add"(%b, %s) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  onnx.Return %t : tensor<2xf32>
}
"""
GROWING = """func.func @f() -> tensor<100xf32> {
  %a = onnx.Constant dense<1.0> : tensor<1xf32>
  %s = onnx.Constant dense<100> : tensor<1xi64>
  %e = "onnx.Expand"(%a, %s) : (tensor<1xf32>, tensor<1xi64>) -> tensor<100xf32>
  onnx.Return %e : tensor<100xf32>
}
"""


def propagated(text: str, **options: object) -> str:
    passes = TextOptions(("constprop-onnx",), ConstpropOptions(**options))  # type: ignore[arg-type]
    return optimize_text(text, "m.mlir", passes, LoadOptions()).text


def test_constants_of_a_chain_are_added_first() -> None:
    text = propagated(CHAIN)
    assert text.count("onnx.Add") == 1
    assert "dense<[4.000000e+00, 5.000000e+00]>" in text


def test_pattern_that_is_disabled_is_left() -> None:
    assert "onnx.Expand" in propagated(GROWING, disabled=frozenset({"ExpandofConst"}))
    assert "onnx.Expand" not in propagated(GROWING)


CAST = """func.func @f() -> tensor<3xi32> {
  %a = onnx.Constant dense<[0.5, 1.5, -2.5]> : tensor<3xf32>
  %c = "onnx.Cast"(%a) {to = i32} : (tensor<3xf32>) -> tensor<3xi32>
  onnx.Return %c : tensor<3xi32>
}
"""


@pytest.mark.parametrize(("rounds", "elements"), [(False, "[0, 1, -2]"), (True, "[0, 2, -2]")])
def test_cast_to_integers_cuts_off_or_rounds_half_to_even(rounds: bool, elements: str) -> None:
    assert f"dense<{elements}>" in propagated(CAST, round_to_int=rounds)
