"""Tensors as ops see them while they are lowered."""

import pytest

from whorl.ir import dims
from whorl.ir.dtypes import FLOAT32
from whorl.ir.native.expressions import Const
from whorl.ir.native.view import Operands, View, fixed

ONE = Const(FLOAT32, 1.0)
N = dims.name("N")


def view(*shape):
    return View(FLOAT32, shape, lambda index: ONE)


@pytest.mark.parametrize(("shape", "size"), [((), 1), ((2, 3), 6), ((0, 5), 0), ((1,), 1)])
def test_view_of_numbers_is_fixed(shape, size):
    x = view(*shape)
    assert x.is_fixed and x.fixed_shape == shape and x.fixed_size == x.size == size


def test_view_with_a_length_of_the_run_is_not():
    x = view(2, N)
    assert not x.is_fixed and x.size == 2 * N
    for read in (lambda: x.fixed_shape, lambda: x.fixed_size):
        with pytest.raises(TypeError, match=r"the length (2\*)?N is not fixed"):
            read()
    assert view(0, N).fixed_size == 0


def test_length_that_is_a_number_is_fixed():
    assert fixed(3) == 3
    with pytest.raises(TypeError, match=r"the length \? is not fixed"):
        fixed(dims.UNKNOWN)


def test_operand_that_is_left_out_is_read_as_optional_only():
    a, b = view(1), view(2)
    operands = Operands([a, None, b])
    assert len(operands) == 3 and operands[0] is a and operands[-1] is b and operands.present() == [a, b]
    assert operands.optional(1) is None and operands.optional(2) is b and operands.optional(7) is None
    with pytest.raises(TypeError, match="input 1 is left out"):
        operands[1]
    with pytest.raises(IndexError):
        operands[3]


def test_slice_of_operands_is_operands():
    a, b = view(1), view(2)
    rest = Operands([a, None, b])[1:]
    assert isinstance(rest, Operands) and len(rest) == 2 and rest.optional(0) is None and rest[1] is b
