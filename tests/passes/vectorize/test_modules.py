"""Whole modules for many rows: where inputs and outputs have the axis of the rows."""

import numpy as np
import pytest
from passes.bits import interpreted
from passes.programs import read

from whorl.ir import dims
from whorl.ir.verify import verify
from whorl.passes.vectorize.batched import CannotVectorize
from whorl.passes.vectorize.modules import map_module

TEXT = """main(%x: float32[n, 3], %w: float32[3]) {
  %y: float32[n, 3] = Mul(%x, %w)
  %z: float32[3] = Exp(%w)
  return y = %y, z = %z
}"""
ROWS = dims.name("rows")


def types(module):
    return {name: str(type) for name, type in module.output_types().items()}


def test_axes_are_the_requested_ones():
    module = map_module(read(TEXT), {"x": 1}, {"y": -1, "z": 0}, ROWS)
    verify(module)
    assert [str(value.type) for value in module.main.arguments] == ["float32[n, rows, 3]", "float32[3]"]
    assert types(module) == {"y": "float32[n, 3, rows]", "z": "float32[rows, 3]"}
    x, w = np.arange(12, dtype=np.float32).reshape(2, 2, 3), np.array([1, 2, 4], np.float32)
    y, z = interpreted(module, {"x": x, "w": w}) or ()
    np.testing.assert_array_equal(y, np.moveaxis(x * w, 1, -1))
    np.testing.assert_array_equal(z, np.stack([np.exp(w)] * 2))


def test_output_that_rows_share_may_stay_as_it_is():
    assert types(map_module(read(TEXT), {"x": 0}, {"y": 0}, ROWS)) == {"y": "float32[rows, n, 3]", "z": "float32[3]"}


def test_output_that_differs_by_row_has_an_axis():
    with pytest.raises(CannotVectorize, match="output 'y' differs by row, and has no axis for them"):
        map_module(read(TEXT), {"x": 0}, {"z": 0}, ROWS)


def test_number_of_rows_may_be_known():
    module = map_module(read(TEXT), {"w": 0}, {"y": 0, "z": 0}, 4)
    assert types(module) == {"y": "float32[4, n, 3]", "z": "float32[4, 3]"}
