"""Constants: arrays, what becomes one when it is read, and which hold the same bits."""

import ml_dtypes
import numpy as np
import pytest

from whorl.errors import WhorlError
from whorl.ir.constants import Constant, MissingArray, as_array, blocks, same_elements, sample_of
from whorl.ir.elements.base import Elements, Leaf
from whorl.ir.elements.mapped import Mapped
from whorl.ir.types import KNOWN_LIMIT


def waiting(array: np.ndarray) -> Elements:
    """Elements that must be computed."""
    return Mapped(np.array, [Leaf(array)], array.dtype, array.shape)


@pytest.mark.parametrize(
    ("array", "known"),
    [
        (np.array(5), 5),
        (np.array([True, False]), [True, False]),
        (np.zeros(0, np.int64), []),
        (np.arange(KNOWN_LIMIT), list(range(KNOWN_LIMIT))),
        (np.arange(KNOWN_LIMIT + 1), None),
        (np.ones((1, 1)), None),
        (np.array("text", object), None),
        (np.array(0.5, np.float16), 0.5),
    ],
    ids=lambda x: str(getattr(x, "shape", "")),
)
def test_elements_of_small_vectors_are_known(array, known):
    (known_elements,) = Constant(array).infer_known()
    assert (None if known_elements is None else known_elements.tolist()) == known
    assert str(Constant(array).infer()) == f"{'string' if array.dtype == object else array.dtype}{list(array.shape)}"


def test_constant_reads_what_waits_when_it_is_run():
    array = np.arange(6).reshape(2, 3)
    assert Constant(array).run() is array and Constant(waiting(array)).run().tolist() == array.tolist()
    assert as_array(waiting(array)).tolist() == array.tolist()


def test_array_that_cannot_be_read_has_a_type_and_a_reason():
    missing = MissingArray(np.dtype(np.float32), (3,), WhorlError("no such file", "w.bin"))
    constant = Constant(missing)
    assert str(constant.infer()) == "float32[3]" and constant.infer_known() == (None,)
    with pytest.raises(WhorlError, match="no such file"):
        constant.run()


@pytest.mark.parametrize("shape", [(), (0,), (3,), (300, 400)])
def test_blocks_are_all_elements_in_order(shape):
    array = np.arange(np.prod(shape, dtype=int), dtype=np.int32).reshape(shape)
    for value in (array, waiting(array), array.T):
        parts = [block.reshape(-1) for block in blocks(value)]
        assert np.concatenate([np.zeros(0, np.int32), *parts]).tolist() == as_array(value).reshape(-1).tolist()


PAIRS = {
    "equal": (np.array([1.0, np.nan]), np.array([1.0, np.nan]), True),
    "sign_of_zero": (np.array([0.0]), np.array([-0.0]), False),
    "element_type": (np.array([0], np.int32), np.array([0], np.float32), False),
    "shape": (np.zeros((1, 2)), np.zeros((2, 1)), False),
    "rank": (np.zeros(()), np.zeros(1), False),
    "empty": (np.zeros((0, 2)), np.zeros((0, 2)), True),
    "text": (np.array(["ab", "c"], object), np.array(["ab", "c"], object), True),
    "other_text": (np.array(["ab", "c"], object), np.array(["a", "bc"], object), False),
    "narrow": (np.array([1, -1], ml_dtypes.int4), np.array([1, -1], ml_dtypes.int4), True),
    "strides": (np.arange(6).reshape(2, 3).T, np.array([[0, 3], [1, 4], [2, 5]]), True),
    "last_of_many": (np.zeros(1 << 18, np.int8), np.arange(1 << 18) // ((1 << 18) - 1) % 2 == 1, False),
}


@pytest.mark.parametrize(("a", "b", "same"), PAIRS.values(), ids=PAIRS)
def test_constants_are_compared_bit_by_bit(a, b, same):
    b = b.astype(np.int8) if b.dtype == bool else b
    assert same_elements(a, b) is same and same_elements(a, a)
    if a.dtype != object:
        assert same_elements(waiting(a), b) is same
    if same:
        assert sample_of(a) == sample_of(b)


def test_what_takes_too_long_to_compute_is_not_equal(monkeypatch):
    monkeypatch.setattr("whorl.ir.constants._COMPARED", 8)
    a = np.arange(4)
    assert not same_elements(waiting(a), waiting(a)) and same_elements(a, a.copy())


def test_constants_are_compared_by_identity():
    array = np.zeros(2)
    assert Constant(array) != Constant(array) and len({Constant(array), Constant(array)}) == 2
