"""Names, texts, numbers and elements in the text form."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from ir.programs import PROGRAMS, message_of

import whorl.ops
from whorl.errors import LoadError
from whorl.ir.dtypes import BY_NAME, COMPLEX, FLOATS, INTEGERS, bits
from whorl.ir.literals import elements_text, number_text, quote, read_elements, unquote, value_name, word
from whorl.ir.parse import parse_module

assert whorl.ops

FAULTS = [
    (
        '%y: float32[] = Constant() {value = string[1] <"a\\q">}',
        'line 2, column 49: \\q is no escape\n  fix: write \\\\ \\" \\n \\r \\t \\x41 \\u0041 or \\U00000041',
    ),
    (
        '%"\\U00110000": float32[] = Neg(%x)',
        'line 2, column 3: \\U00110000 is no escape\n  fix: write \\\\ \\" \\n \\r \\t \\x41 \\u0041 or \\U00000041',
    ),
    (
        "%y: string[1] = Constant() {value = string[1] <a>}",
        "line 2, column 49: 'a' among the elements of string[1] is no text\n  fix: put it in double quotes",
    ),
    (
        "%y: int8[2] = Constant() {value = int8[2] <1>}",
        "line 2, column 45: int8[2] has 2 elements, not 1",
    ),
    (
        "%y: int8[1] = Constant() {value = int8[1] <1.5>}",
        "line 2, column 45: '1.5' is no element of a int8 tensor",
    ),
    (
        "%y: int4[1] = Constant() {value = int4[1] <8>}",
        "line 2, column 45: 8 is outside the range of int4, -8 to 7",
    ),
    (
        "%y: float16[1] = Constant() {value = float16[1] <1e9>}",
        "line 2, column 51: 1e9 is outside the range of float16",
    ),
    (
        "%y: bool[1] = Constant() {value = bool[1] <1>}",
        "line 2, column 45: '1' is no element of a bool tensor",
    ),
    (
        "%y: float32[9] = Constant() {value = float32[9] <...>}",
        "line 2, column 51: the elements of float32[9] were left out\n  fix: print the module without `elide`",
    ),
    (
        f"%y: float32[0] = Constant() {{value = float32[0, {2**62}, {2**62}] <>}}",
        f"line 2, column 93: no array has the shape of float32[0, {2**62}, {2**62}]",
    ),
]


@pytest.mark.parametrize(("line", "message"), FAULTS, ids=[line[:40] for line, _ in FAULTS])
def test_fault_of_a_node_has_location_and_fix(line: str, message: str) -> None:
    assert message_of(f"main(%x: float32[]) {{\n  {line}\n  return\n}}\n") == message


def test_numbers_of_any_kind_are_read_back_exactly() -> None:
    array = parse_module(PROGRAMS["tensors"]).main.nodes[0].op.run()
    assert array.dtype == np.float32 and array[0, 0] == np.float32(0.1)


def samples(dtype: np.dtype) -> np.ndarray:
    """Every element of a narrow type; extremes, zeros of both signs and what is no number of a wide one."""
    if dtype in INTEGERS:
        limits = ml_dtypes.iinfo(dtype)
        return np.array([int(limits.min), int(limits.max), 0], object).astype(dtype)
    if dtype in FLOATS and bits(dtype) <= 16:
        return np.arange(1 << bits(dtype), dtype=np.uint32).astype(f"u{dtype.itemsize}").view(dtype)
    if dtype in FLOATS:
        limits = np.finfo(dtype)
        return np.array([0.1, -0.0, np.nan, np.inf, -np.inf, limits.max, limits.tiny, limits.smallest_subnormal], dtype)
    parts = [1.5, -0.0, np.nan, np.inf, -np.inf, 1e-30]
    return np.array([complex(a, b) for a in parts for b in parts], dtype)


@pytest.mark.parametrize("name", [name for name in BY_NAME if name not in ("string", "bool")])
def test_every_element_is_read_back_to_the_bit(name: str) -> None:
    dtype = BY_NAME[name]
    array = samples(dtype)
    with np.errstate(all="ignore"):
        again = read_elements(elements_text(array), dtype, array.shape)
        both_nan = np.isnan(array) & np.isnan(again) if dtype in FLOATS | COMPLEX else np.zeros(array.shape, bool)
    same = [x.tobytes() == y.tobytes() for x, y in zip(array, again, strict=True)]
    assert again.dtype == dtype and (np.array(same) | both_nan).all()


TEXTS = ["", 'a "b" \\ c', "\n\r\t", "\x00\x7f", "é", "\u2028", "\U0001f600", "<%x>", "# no comment"]


@pytest.mark.parametrize("text", TEXTS)
def test_text_is_read_back(text: str) -> None:
    assert unquote(quote(text)) == text and quote(text).isprintable()
    array = np.array([text, text], object)
    assert read_elements(elements_text(array), array.dtype, (2,)).tolist() == [text, text]


@pytest.mark.parametrize("shape", [(), (0,), (2, 0, 3), (1, 1)])
def test_elements_have_the_shape(shape: tuple[int, ...]) -> None:
    array = np.ones(shape, np.int16)
    again = read_elements(elements_text(array), array.dtype, shape)
    assert again.shape == shape and again.tolist() == array.tolist()


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.1, "0.1"),
        (np.float32(0.1), "0.1"),
        (np.float16(0.1), "0.1"),
        (float("nan"), "nan"),
        (-0.0, "-0.0"),
        (1e300, "1e+300"),
        (np.float32(16777216), "1.6777216e+07"),
    ],
)
def test_number_has_the_fewest_digits(value: float, text: str) -> None:
    assert number_text(value) == text


@pytest.mark.parametrize(
    ("name", "shown"),
    [("x", "x"), ("/a/b.c'", "/a/b.c'"), ("_", '"_"'), ("nan", '"nan"'), ("True", '"True"'), ("1", '"1"'), ("", '""')],
)
def test_name_is_quoted_where_it_means_something_else(name: str, shown: str) -> None:
    assert word(name) == shown


@pytest.mark.parametrize(
    ("hint", "number", "shown"), [("x", 0, "%x"), ("1", 2, "%1~2"), ("a b", 0, '%"a b"'), ("", 1, '%""~1')]
)
def test_value_has_a_hint_and_a_number(hint: str, number: int, shown: str) -> None:
    assert value_name(hint, number) == shown


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("float8e4m3fn", "inf"),
        ("float8e4m3fnuz", "-inf"),
        ("float4e2m1", "nan"),
        ("float4e2m1", "7.6"),
        ("float6e3m2", "32"),
        ("float8e8m0", "0.0"),
        ("float8e8m0", "-1"),
        ("float16", "65520"),
        ("float32", "1e39"),
        ("float32", "1e400"),
        ("float64", "-1e400"),
        ("complex64", "1e39+0j"),
        ("complex128", "1e400j"),
    ],
)
def test_number_that_the_type_does_not_have_is_refused(name: str, text: str) -> None:
    """Not replaced by the largest one, by an infinity or by NaN."""
    with pytest.raises(LoadError) as caught:
        read_elements(f"1 {text}", BY_NAME[name], (2,))
    assert str(caught.value) == f"{text} is outside the range of {name}"


@pytest.mark.parametrize(("name", "text"), [("float16", "65519"), ("float32", "3.4028235e+38"), ("float6e3m2", "28.5")])
def test_number_that_rounds_to_the_largest_one_is_that(name: str, text: str) -> None:
    (number,) = read_elements(text, BY_NAME[name], (1,))
    assert number == ml_dtypes.finfo(BY_NAME[name]).max


@pytest.mark.parametrize(
    ("name", "text"),
    [("int8", "1_0"), ("int8", "\u0661"), ("float32", "1_0.5"), ("float32", "0x1p3"), ("bool", "true"), ("int8", "+")],
)
def test_number_in_a_form_of_other_languages_is_refused(name: str, text: str) -> None:
    with pytest.raises(LoadError) as caught:
        read_elements(text, BY_NAME[name], (1,))
    assert str(caught.value) == f"{text!r} is no element of a {name} tensor"
