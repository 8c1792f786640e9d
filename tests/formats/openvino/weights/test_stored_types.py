"""Forms of element types that constants are stored in."""

import pickle

import numpy as np
import pytest

from whorl.errors import LoadError
from whorl.formats.openvino.weights.read import Weights
from whorl.formats.openvino.weights.read import constant as read
from whorl.formats.openvino.weights.stored_types import NF4, STORED, stored_type
from whorl.ir.constants import as_array


def elements(name: str, data: bytes, *shape: int) -> np.ndarray:
    return as_array(read(Weights(data), 0, len(data), STORED[name], shape))


@pytest.mark.parametrize(
    ("name", "data", "expected"),
    [
        ("f32", b"\x00\x00\x80?\x00\x00\x00\xc0", [1, -2]),
        ("boolean", b"\x00\x01\x02\xff", [False, True, True, True]),
        ("u1", b"\xb1\x80", [1, 0, 1, 1, 0, 0, 0, 1, 1, 0]),
        ("u2", b"\xe4\x01", [0, 1, 2, 3, 1]),
        ("u3", b"\x1b\x1b\x0f\xd0\x00\x80", [0, 1, 2, 3, 4, 5, 6, 7, 7, 1]),
        ("u6", b"\x12\xc1\x0e\xf0\x00\xc0", [1, 2, 60, 33, 63, 0]),
        ("u4", b"\xf1\x07", [1, 15, 7]),
        ("i4", b"\x78\x03", [-8, 7, 3]),
        ("nf4", b"\x70\x0f", [-1, 0, 1]),
        ("f4e2m1", b"\x21", [0.5, 1]),
        ("f8e4m3", b"\x38\xb8", [1, -1]),
        ("f8e5m2", b"\x3c\xbc", [1, -1]),
        ("f8e8m0", b"\x7f\x80", [1, 2]),
        ("bf16", b"\x80?", [1]),
    ],
)
def test_stored_form_is_decoded(name, data, expected):
    assert elements(name, data, len(expected)).astype(np.float32).tolist() == [float(x) for x in expected]


def test_numbers_of_nf4_are_symmetric_in_their_ends():
    assert len(NF4) == 16 and NF4[0] == -1 and NF4[7] == 0 and NF4[15] == 1 and (np.diff(NF4) > 0).all()


@pytest.mark.parametrize(
    ("name", "count", "size"),
    [("f32", 3, 12), ("u1", 9, 2), ("u2", 5, 2), ("u3", 1, 3), ("u3", 9, 6), ("u6", 5, 6), ("i4", 3, 2), ("nf4", 0, 0)],
)
def test_elements_take_whole_bytes_or_groups_of_three(name, count, size):
    assert STORED[name].size(count) == size


@pytest.mark.parametrize("text", ["F32", " f32 "])
def test_name_may_be_written_in_any_case(text):
    assert stored_type(text, "") is STORED["f32"]


def test_name_that_is_none_is_refused():
    with pytest.raises(LoadError) as caught:
        stored_type("f12", "Const 'c' (line 2)")
    assert str(caught.value).startswith(
        "Const 'c' (line 2): OV404: element_type is 'f12'\n  fix: choose from boolean, i4"
    )


@pytest.mark.parametrize("name", STORED)
def test_type_crosses_a_pickle_as_itself(name):
    assert pickle.loads(pickle.dumps(STORED[name])) is STORED[name]


def test_elements_that_are_not_aligned_are_copied():
    data = memoryview(b"\x00" + np.array([1, 2], np.float32).tobytes())[1:]
    array = STORED["f32"].decode(data, 2)
    assert array.tolist() == [1, 2]
    assert array.flags.aligned
