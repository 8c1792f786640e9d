"""A module with its plan: how arguments are checked before a run."""

import numpy as np
import pytest
from onnx_text import model

import whorl
from whorl.ir.dtypes import STRING
from whorl.ir.types import TensorType
from whorl.runtime.backends import BACKENDS
from whorl.runtime.whole import Whole, load_compiler

X = np.zeros(3, np.float32)


def whole(text: str, backend: str = "interpreter") -> Whole:
    return Whole(whorl.load(model(text)), BACKENDS[backend])


def test_arguments_follow_the_order_of_the_inputs() -> None:
    made = whole("main (float[3] x, int64 n) => (float[3] y, int64 m) { y = Neg (x) m = Neg (n) }")
    x, n = made.arguments({"n": 2, "x": X})
    assert x is X
    assert isinstance(n, np.ndarray) and n == 2


def test_input_with_a_default_may_be_left_out() -> None:
    made = whole("main (float[3] x, float[1] w = {2}) => (float[3] y) { y = Mul (x, w) }")
    assert [np.asarray(value).tolist() for value in made.arguments({"x": X})] == [[0, 0, 0], [2]]


@pytest.mark.parametrize(
    ("feeds", "message"),
    [
        ({}, r"missing inputs: 'x' \(float32\[3\]\)"),
        ({"x": X, "z": X}, "the model has no input 'z'"),
        ({"x": np.zeros(4, np.float32)}, "input 'x'"),
        (X, "the feeds are ndarray, expected a dictionary"),
    ],
)
def test_feeds_that_do_not_fit_are_refused(feeds: object, message: str) -> None:
    with pytest.raises(whorl.RunError, match=message):
        whole("main (float[3] x) => (float[3] y) { y = Neg (x) }").arguments(feeds)


def test_typed_inputs_name_no_element_type_for_what_is_no_tensor() -> None:
    made = whole("main (float[3] x, seq(float[3]) s) => (float[3] y, int64 n) { y = Neg (x) n = SequenceLength (s) }")
    assert made.typed_inputs() == [("x", X.dtype), ("s", None)]
    assert made.sequence_inputs() == {"s": TensorType(X.dtype, (3,))}


def test_sequences_of_strings_are_lists_of_arrays_and_optional_ones_are_not() -> None:
    made = whole("main (seq(string[3]) s, optional(seq(float[3])) o) => (int64 n) { n = SequenceLength (s) }")
    assert made.sequence_inputs() == {"s": TensorType(STRING, (3,))}


def test_compiler_is_loaded_where_something_is_compiled() -> None:
    assert load_compiler(BACKENDS["interpreter"]) is None
    assert load_compiler(BACKENDS["native"]) is not None
