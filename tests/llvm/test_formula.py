"""Formulas: polynomials in both orders, and ranges."""

from __future__ import annotations

import numpy as np
import pytest

from whorl.llvm.formula import clamp, define_formula, polynomial, short_polynomial
from whorl.llvm.function import Function
from whorl.llvm.module import Machine, Module
from whorl.llvm.value import Value

COEFFICIENTS = [0.5, -1.0, 2.0, 0.25, 3.0, -0.125, 1.0]


def evaluate(write, x: float) -> float:
    """A formula of a double, run by LLVM."""
    import ctypes

    from whorl.codegen.target import MachineCode

    module = Module(Machine(32, True))
    define_formula("@formula", ["double"], module, write)
    f = Function(module, "@f", "void", {"p": "ptr"}, "")
    f.store(f.call("@formula", "double", f.load("double", f["p"])), f["p"])
    f.give()
    cell = ctypes.c_double(x)
    code = MachineCode(module, "f")
    ctypes.CFUNCTYPE(None, ctypes.c_void_p)(code.address)(ctypes.addressof(cell))
    return cell.value


@pytest.mark.parametrize("count", range(2, 8))
@pytest.mark.parametrize("x", [-1.5, 0.0, 0.75])
def test_both_orders_give_the_polynomial(count: int, x: float) -> None:
    coefficients = COEFFICIENTS[:count]
    expected = np.polynomial.polynomial.polyval(x, coefficients)
    assert evaluate(lambda f, v: polynomial(f, v, coefficients), x) == pytest.approx(expected)
    assert evaluate(lambda f, v: short_polynomial(f, v, v * v, coefficients), x) == pytest.approx(expected)


def test_clamp_leaves_nan() -> None:
    def bounded(f: Function, x: Value) -> Value:
        return clamp(f, x, -1.0, 2.0)

    assert [evaluate(bounded, x) for x in (-3.0, 0.5, 9.0)] == [-1.0, 0.5, 2.0]
    assert np.isnan(evaluate(bounded, np.nan))


def test_formula_is_defined_once() -> None:
    module = Module(Machine(32, True))
    for _ in range(2):
        assert define_formula("@half", ["float"], module, lambda f, x: x * 0.5) == "@half"
    assert str(module).count("define internal float @half(float %x0) alwaysinline") == 1
