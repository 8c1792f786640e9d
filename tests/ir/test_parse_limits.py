"""Texts from nobody knows where: nesting, length and garbage end in a program or a LoadError, and lark loads late."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ir.programs import PROGRAMS, message_of

import whorl.ops
from whorl.errors import LoadError
from whorl.ir.parse import parse_module
from whorl.ir.text import print_module

assert whorl.ops


def test_nesting_beyond_the_stack_is_a_load_error() -> None:
    text = f"main(%x: {'seq(' * 5000}float32[]{')' * 5000}) {{ return }}"
    message = "the program is nested too deeply for the stack of this Python\n  fix: lower max_depth"
    assert message_of(text, max_depth=10_000) == message


TOKENS = [
    *'(){}[]<>%_,:=#?*+-~"\\ \n',
    "return",
    "seq(",
    "nan",
    "9" * 30,
    "1e999",
    "%x",
    "floor(",
    "Loop",
    "None",
    "\0",
]
PIECES = st.lists(st.sampled_from(TOKENS) | st.text(max_size=3), min_size=1, max_size=3).map("".join)
EDITS = st.tuples(st.floats(0, 1), st.integers(0, 9), PIECES)


@pytest.mark.slow
@settings(max_examples=600, deadline=None)
@given(
    st.sampled_from(list(PROGRAMS.values())),
    st.lists(st.tuples(st.floats(0, 1), st.integers(0, 9), PIECES), max_size=4),
)
def test_damaged_program_is_a_program_or_a_load_error(text: str, edits: list[tuple[float, int, str]]) -> None:
    for where, length, piece in edits:
        start = int(where * len(text))
        text = text[:start] + piece + text[start + length :]
    try:
        module = parse_module(text)
    except LoadError as error:
        assert error.where.startswith("line ")
        return
    again = print_module(module)
    assert print_module(parse_module(again)) == again


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=40))
def test_garbage_is_a_load_error(text: str) -> None:
    with pytest.raises(LoadError, match=r"^line "):
        parse_module(text)


@pytest.mark.slow
def test_chain_of_ten_thousand_nodes_is_read() -> None:
    lines = "\n".join(f"%x~{k + 1}: float32[N] = Neg(%x{f'~{k}' if k else ''})" for k in range(10_000))
    module = parse_module(f"main(%x: float32[N]) {{\n{lines}\nreturn y = %x~10000\n}}")
    assert len(module.main.nodes) == 10_000


def test_lark_is_loaded_by_the_first_parse_only() -> None:
    program = """
import sys, whorl.ops, whorl.ir.parse, whorl.ir.text
before = "lark" in sys.modules
whorl.ir.parse.parse_module("main() { return }")
print(before, "lark" in sys.modules)
"""
    actual = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    assert actual.stdout.split() == ["False", "True"]
