"""Types, lengths and known elements in the text form."""

from __future__ import annotations

import pytest
from ir.programs import message_of

import whorl.ops
from whorl.ir.dtypes import BY_NAME
from whorl.ir.parse import parse_module
from whorl.ir.text import format_type

assert whorl.ops

FAULTS = [
    (
        "%y: float32[] = Elu(%x) {alpha = -1e400}",
        "line 2, column 36: -1e400 is larger than any float\n  fix: write inf",
    ),
    (
        "%y: float32[] = Neg(%x~111111111111111111111)",
        "line 2, column 23: a number of 21 digits after ~",
    ),
    (
        "%y: float32[mod(N, M, 2)] = Neg(%x)",
        "line 2, column 15: mod takes 2 lengths, not 3",
    ),
    (
        "%y: float32[9223372036854775808] = Neg(%x)",
        "line 2, column 7: an axis is longer than any memory or shorter than 0",
    ),
    (
        "%y: float32[] = Cast(%x) {to = float23}",
        "line 2, column 34: 'float23' is no element type\n  fix: put it in double quotes if it is a text",
    ),
    (
        "%y: float32[?] = Neg(%x)",
        "line 2, column 3: %y has a dim without a name\n  fix: name it, or write * for all dims",
    ),
    (
        "%y: float32[2-3] = Neg(%x)",
        "line 2, column 7: an axis is longer than any memory or shorter than 0",
    ),
    (
        "%y: float32[ceil(N, 2)] = Neg(%x)",
        "line 2, column 15: 'ceil' is no function of lengths\n  fix: use floor, mod, less, equal, mul, min, max",
    ),
    (
        "%y: float32[floor(N)] = Neg(%x)",
        "line 2, column 15: floor takes 2 lengths, not 1",
    ),
    (
        "%y: float32[mul(9000000000, 9000000000)] = Neg(%x)",
        "line 2, column 15: a length is larger than any memory",
    ),
    (
        f"%y: float32[{'9' * 5000}] = Neg(%x)",
        "line 2, column 15: a number of 5000 digits fits no element type",
    ),
    (
        "%y: float32[N] {1} = Neg(%x)",
        "line 2, column 3: the elements of %y need a shape, which its type does not say\n"
        "  fix: write it in front of the elements, as in {[2] N, 4}",
    ),
    (
        "%y: float32[2] {1} = Neg(%x)",
        "line 2, column 3: the shape [2] does not fit the known elements of %y",
    ),
    (
        "%y: float32[N] = Constant() {value = float32[N] <1.0>}",
        "line 2, column 40: the shape of a tensor with elements has to be numbers",
    ),
]


@pytest.mark.parametrize(("line", "message"), FAULTS, ids=[line[:40] for line, _ in FAULTS])
def test_fault_of_a_node_has_location_and_fix(line: str, message: str) -> None:
    assert message_of(f"main(%x: float32[]) {{\n  {line}\n  return\n}}\n") == message


def test_unknown_element_type_lists_all_of_them() -> None:
    expected = f"line 1, column 10: 'float31' is no element type\n  fix: use {', '.join(BY_NAME)}"
    assert message_of("main(%x: float31[]) { return }") == expected


DIMS = [
    ("N+N", "2*N"),
    ("N-N", "0"),
    ("3+N-1", "N+2"),
    ("-N+M", "M-N"),
    ("2*floor(N, 1)", "2*N"),
    ("floor(7, 2)", "3"),
    ("mod(7, 2)", "1"),
    ("min(3, 5, 2)", "2"),
    ("max(N, N)", "N"),
    ("less(N, N+1)", "1"),
    ("1-equal(N, 4)", "-equal(N, 4)+1"),
    ("mul(2, N)", "2*N"),
    ("mul(N, M)", "mul(M, N)"),
    ('"N"', "N"),
    ('"N+1"+1', '"N+1"+1'),
]


@pytest.mark.parametrize(("text", "length"), DIMS)
def test_length_is_in_its_simplest_form(text: str, length: str) -> None:
    (value,) = parse_module(f"main(%x: float32[{text}]) {{\n  return x = %x\n}}").main.arguments
    assert format_type(value.type) == f"float32[{length}]"


@pytest.mark.parametrize(
    "type",
    ["float32[*]", "string[]", "seq(float32[N])", "optional(seq(int64[*]))", "map(string, float32[])", "int2[0, 1]"],
)
def test_type_is_read_as_it_is_written(type: str) -> None:
    (value,) = parse_module(f"main(%x: {type}) {{\n  return x = %x\n}}").main.arguments
    assert format_type(value.type) == type


@pytest.mark.parametrize(
    ("text", "shape", "elements"),
    [
        ("int64[2] {N, 2*N-1}", (2,), ["N", "2*N-1"]),
        ("int64[] {-1}", (), ["-1"]),
        ("int64[*] {[2] 3, ?}", (2,), ["3", "?"]),
        ("int64[0] {}", (0,), []),
        ("bool[2] {True, False}", (2,), ["True", "False"]),
        ("float32[1] {nan}", (1,), ["nan"]),
    ],
)
def test_known_elements_are_numbers_and_lengths(text: str, shape: tuple[int, ...], elements: list[str]) -> None:
    (value,) = parse_module(f"main(%x: {text}) {{\n  return x = %x\n}}").main.arguments
    assert value.known is not None and value.known.shape == shape and [str(e) for e in value.known.flat] == elements


def test_large_whole_number_is_read_to_the_digit() -> None:
    text = "main() {\n  return\n}\nmetadata {n = 18446744073709551615, m = -9223372036854775808, f = -inf}"
    assert parse_module(text).metadata == {"n": (1 << 64) - 1, "m": -(1 << 63), "f": float("-inf")}
