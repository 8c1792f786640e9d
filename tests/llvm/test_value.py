"""Values: types, literals, and the instructions that operators append."""

import math

import pytest

from whorl.llvm.function import Function
from whorl.llvm.module import Machine, Module
from whorl.llvm.value import is_real, lanes_of, literal, overload, scalar_of, with_scalar


@pytest.fixture
def f() -> Function:
    types = {"x": "float", "n": "i32", "i": "i64", "v": "<4 x float>"}
    return Function(Module(Machine(32, True)), "@f", "void", types)


def last(f: Function) -> str:
    return f.blocks[-1].lines[-1].split(" = ")[1]


@pytest.mark.parametrize(
    ("type", "scalar", "lanes", "name"),
    [
        ("float", "float", 0, "f32"),
        ("<8 x double>", "double", 8, "v8f64"),
        ("i64", "i64", 0, "i64"),
        ("ptr", "ptr", 0, "p0"),
    ],
)
def test_type_has_a_scalar_lanes_and_a_name_in_intrinsics(type, scalar, lanes, name):
    assert (scalar_of(type), lanes_of(type), overload(type)) == (scalar, lanes, name)
    assert is_real(type) == (scalar in ("float", "double"))
    assert lanes_of(with_scalar(type, "i1")) == lanes


@pytest.mark.parametrize(
    ("value", "type", "text"),
    [
        (1.0, "double", "0x3FF0000000000000"),
        (0.1, "float", "0x3FB99999A0000000"),
        (-math.inf, "float", "0xFFF0000000000000"),
        (True, "i1", "true"),
        (-3, "i8", "-3"),
        (5, "<2 x i32>", "<i32 5, i32 5>"),
    ],
)
def test_literal_is_exact_in_its_type(value, type, text):
    assert literal(value, type) == text


def test_operators_choose_instructions_by_type(f):
    for made, text in (
        (lambda: f["x"] + 1.0, "fadd float %x, 0x3FF0000000000000"),
        (lambda: 1.0 / f["x"], "fdiv float 0x3FF0000000000000, %x"),
        (lambda: f["n"] + 1, "add i32 %n, 1"),
        (lambda: -f["n"], "sub i32 0, %n"),
        (lambda: -f["x"], "fneg float %x"),
        (lambda: f["n"] < 2, "icmp ult i32 %n, 2"),
        (lambda: f["x"].differs(0), "fcmp one float %x, 0x0000000000000000"),
        (lambda: f["x"].is_nan(), "fcmp uno float %x, %x"),
    ):
        made()
        assert last(f) == text


def test_index_never_overflows_and_has_a_sign(f):
    i = f.argument("i")
    for made, text in (
        (lambda: i * 4, "mul nsw i64 %i, 4"),
        (lambda: 7 - i, "sub nsw i64 7, %i"),
        (lambda: i // 3, "sdiv i64 %i, 3"),
        (lambda: i < 9, "icmp slt i64 %i, 9"),
        (lambda: i & -8, "and i64 %i, -8"),
    ):
        made()
        assert last(f) == text


def test_comparison_of_vectors_is_a_mask(f):
    assert (f["v"] > f["v"]).type == "<4 x i1>"
