"""Functions that are found by the name of an operation: of the C library, of integers, of either precision."""

from __future__ import annotations

import numpy as np
import pytest

from codegen.functions.bounds import call
from codegen.maps import mapped
from whorl.codegen.functions.table import require_function
from whorl.ir.dtypes import FLOAT32, FLOAT64
from whorl.llvm.module import Machine, Module


def test_power_of_integers_wraps() -> None:
    x = np.array([3, -3, 7, 2, 0, 1, -1], np.int64)
    y = np.array([40, 41, 100, 64, 0, 1 << 40, (1 << 40) + 1], np.int64)
    np.testing.assert_array_equal(mapped(call("pow"), [x, y], "int64"), np.power(x, y))


@pytest.mark.parametrize("name", ["fmod", "atan2"])
def test_function_of_the_c_library_takes_two(name: str) -> None:
    x, y = np.array([5.5, -5.5, 1.0]), np.array([2.0, 2.0, -0.5])
    reference = {"fmod": np.fmod, "atan2": np.arctan2}[name]
    np.testing.assert_allclose(mapped(call(name), [x, y], "float64"), reference(x, y), rtol=1e-15)


def test_unknown_function_is_refused() -> None:
    with pytest.raises(TypeError, match="there is no function 'gamma'"):
        mapped(call("gamma"), [np.ones(3)], "float64")


def test_function_is_a_formula_or_declared_by_its_c_name() -> None:
    module = Module(Machine(32, True))
    assert require_function("exp", FLOAT64, module) == "@whorl.exp.double"
    assert require_function("sin", FLOAT32, module) == "@whorl.sin.float"
    assert require_function("sin", FLOAT64, module) == "@sin"
    assert require_function("asin", FLOAT32, module) == "@asinf"
    assert "declare float @asinf(float) nounwind memory(none)" in str(module)
