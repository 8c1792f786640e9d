"""Values as the data files write them."""

import json

import numpy as np
import pytest

from whorl.conformance.values import decode


@pytest.mark.parametrize(
    ("text", "array"),
    [
        ('{"int64": 3}', np.array(3, np.int64)),
        ('{"uint64": [18446744073709551615]}', np.array([2**64 - 1], np.uint64)),
        ('{"float": [[1, -0.0], ["nan", "-inf"]]}', np.array([[1, -0.0], [np.nan, -np.inf]], np.float32)),
        ('{"float": [1e-45]}', np.array([1e-45], np.float32)),
        ('{"float": 0.5, "shape": [2, 3]}', np.full((2, 3), 0.5, np.float32)),
        ('{"double": [], "shape": [0, 8]}', np.zeros((0, 8))),
        ('{"bool": [true, false]}', np.array([True, False])),
        ('{"complex64": [["inf", 0], [0, -3]]}', np.array([complex(np.inf, 0), complex(0, -3)], np.complex64)),
        ('{"complex128": [1, 2]}', np.array(1 + 2j)),
    ],
)
def test_tensor_is_decoded_bit_by_bit(text, array):
    decoded = decode(json.loads(text))
    assert (decoded.dtype, decoded.shape, decoded.tobytes()) == (array.dtype, array.shape, array.tobytes())


def test_strings_sequences_and_empty_optionals_are_decoded():
    strings = decode({"string": ["ä", ""]})
    assert strings.dtype == object and strings.tolist() == ["ä", ""]
    assert decode({"string": "x"}).shape == ()
    assert decode(None) is None
    assert [item.tolist() for item in decode([{"float": []}, {"int32": [1]}])] == [[], [1]]
