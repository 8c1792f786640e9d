"""Ops of a library: which fits, what it gives."""

import ctypes
from types import SimpleNamespace

import numpy as np
import pytest

from whorl.api.kernel_libraries.operators import ANY, OPTIONAL, REQUIRED, VARIADIC, Operator, choose, key_of
from whorl.errors import TypeRuleError
from whorl.ir.dtypes import BY_NAME
from whorl.ir.types import TensorType

FLOAT, INT64, STRING = 1, 7, 8


def operator(*inputs, name="Op"):
    made = Operator.__new__(Operator)
    made.name, made.inputs, made.outputs = name, list(inputs), [(FLOAT, REQUIRED)]
    made.table = SimpleNamespace(version=0, infer=None)
    made._types = {}
    return made


@pytest.mark.parametrize(
    ("inputs", "elements", "fits"),
    [
        ([(FLOAT, REQUIRED)], [FLOAT], True),
        ([(FLOAT, REQUIRED)], [INT64], False),
        ([(ANY, REQUIRED)], [STRING], True),
        ([(FLOAT, REQUIRED), (FLOAT, OPTIONAL)], [FLOAT], True),
        ([(FLOAT, REQUIRED), (FLOAT, OPTIONAL)], [FLOAT, None], True),
        ([(FLOAT, REQUIRED), (FLOAT, REQUIRED)], [FLOAT], False),
        ([(FLOAT, REQUIRED), (FLOAT, REQUIRED)], [FLOAT, None], False),
        ([(FLOAT, REQUIRED)], [FLOAT, FLOAT], False),
        ([(FLOAT, VARIADIC)], [], True),
        ([(FLOAT, REQUIRED), (INT64, VARIADIC)], [FLOAT, INT64, INT64], True),
        ([(FLOAT, REQUIRED), (INT64, VARIADIC)], [FLOAT, INT64, FLOAT], False),
    ],
)
def test_inputs_fit_by_element_and_kind(inputs, elements, fits):
    assert operator(*inputs).fits(elements) is fits


def test_choice_is_the_first_that_fits():
    float32, int64 = (TensorType(BY_NAME[name], (3,)) for name in ("float32", "int64"))
    group = [operator((FLOAT, REQUIRED)), operator((INT64, REQUIRED), (FLOAT, OPTIONAL))]
    assert choose(group, [int64]) is group[1]
    with pytest.raises(TypeRuleError) as error:
        choose(group, [float32, None, int64])
    assert error.value.message == ("Op takes (float32) or (int64, float32?), and the inputs are (float32, none, int64)")


def test_types_are_the_declared_ones():
    (type,) = operator((FLOAT, REQUIRED)).infer([TensorType(BY_NAME["float32"], (3,))], {}, 1)
    assert type.dtype == np.float32 and type.rank is None


def test_attributes_that_differ_have_other_keys():
    values = (1, 1.0, True, "1", (1,), np.arange(2), np.arange(2.0), np.array([[0, 1]]))
    assert len({key_of({"a": value}) for value in values}) == len(values)
    assert key_of({"a": [1], "b": 2}) == key_of({"b": 2, "a": (1,)})


def test_table_of_the_library_is_read(library):
    from whorl.api.kernel_libraries.libraries import load_library
    from whorl.ir.definitions import DEFINITIONS

    load_library(library)
    assert {name for domain, name in DEFINITIONS if domain == "test.kernels"} == {
        *("Scale", "Count", "Spread", "Join", "Foreign", "Silent", "Negate")
    }
    assert ctypes.sizeof(ctypes.c_void_p) == 8
