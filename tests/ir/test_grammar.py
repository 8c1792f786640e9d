"""The grammar of the text form: what is no program ends in one error with place, what was expected, and a fix."""

from __future__ import annotations

import pytest
from ir.programs import message_of

import whorl.ops
from whorl.errors import LoadError
from whorl.ir.parse import parse_module, parse_region
from whorl.ir.text import print_module

assert whorl.ops

SYNTAX = [
    (
        "",
        "line 1, column 1: found the end of the text, expected '(', a name or a text in double quotes\n"
        "  fix: complete the text; print_module writes a whole module",
    ),
    (
        "main(%x: float32[]) {\n  return x = %x\n",
        "line 3, column 1: found the end of the text, expected ',' or '}'\n"
        "  fix: complete the text; print_module writes a whole module",
    ),
    (
        "main(%x: float32[]) {\n  return x = %x\n}\nmain",
        "line 4, column 1: found 'main', expected 'defaults', 'metadata' or the end of the text\n"
        "  fix: docs/text-form.md shows the form",
    ),
    (
        "main(x: float32[]) {}",
        "line 1, column 6: found 'x', expected ')' or a value like %x\n  fix: begin the name of a value with %",
    ),
    (
        "main(%x: float32[]) {\n  %y = Neg(%x)\n  return\n}",
        "line 2, column 6: found '=', expected ':'\n"
        "  fix: give every value its type where it is made, as in %x: float32[N, 4]",
    ),
    (
        "main(%x: float32[]) {\n}",
        "line 2, column 1: found '}', expected '_', 'return' or a value like %x\n"
        "  fix: end the region with `return` and its results",
    ),
    (
        "main(%x: float32[]) {\n  return %x\n}",
        "line 2, column 10: found '%x', expected '}', a name or a text in double quotes\n"
        "  fix: write a name in front, as in y = %x",
    ),
    (
        "main(%x: {}) {}",
        "line 1, column 10: found '{', expected a type\n  fix: docs/text-form.md shows the form",
    ),
    (
        "main(%x: float32[N, ]) {}",
        "line 1, column 21: found ']', expected a length\n  fix: docs/text-form.md shows the form",
    ),
    (
        "main(%x: float32[2] {N, [}) {}",
        "line 1, column 25: found '[', expected an element\n  fix: docs/text-form.md shows the form",
    ),
    (
        "main() {\n  %y: float32[] = Constant() {value = }\n  return\n}",
        "line 2, column 39: found '}', expected what a field can hold\n  fix: docs/text-form.md shows the form",
    ),
    (
        'main() {\n  %y: float32[] = Constant "c\n  return\n}',
        "line 2, column 28: found '\"', expected '(' or a text in double quotes\n"
        "  fix: close the text with a second quote on the same line",
    ),
    (
        "main\x00()",
        "line 1, column 5: found '\\x00', expected '('\n  fix: docs/text-form.md shows the form",
    ),
    (
        "main(%x: float32[]) {\n  %y: float32[N*M] = Neg(%x)\n  return\n}\n",
        "line 2, column 16: found '*', expected '(', '+', ',', '-' or ']'\n  fix: docs/text-form.md shows the form",
    ),
]


@pytest.mark.parametrize(("text", "message"), SYNTAX, ids=[text[:30] for text, _ in SYNTAX])
def test_syntax_error_says_what_was_expected(text: str, message: str) -> None:
    assert message_of(text) == message


def test_region_faults_are_load_errors() -> None:
    with pytest.raises(LoadError) as caught:
        parse_region("body(%x: float32[]) {\n  return y = %x\n}")
    assert str(caught.value) == (
        "line 2, column 10: found 'y', expected '}' or a value like %x\n  fix: begin the name of a value with %"
    )


@pytest.mark.parametrize("inside", ["(", "[", "{", "seq(", "optional("])
def test_deep_nesting_is_refused(inside: str) -> None:
    text = f"main(%x: {inside * 100_000}"
    column = 10 + len(inside) * 96 - 1
    fix = "raise max_depth if the text is trusted"
    assert message_of(text) == f"line 1, column {column}: brackets are nested deeper than 96\n  fix: {fix}"


def test_brackets_in_quotes_and_comments_do_not_nest() -> None:
    text = f'"{"(" * 200}"(%x: float32[]) {{ # {"[" * 200}\n  return\n}}\n'
    assert parse_module(text).main.name == "(" * 200


def test_limit_can_be_raised() -> None:
    text = f"main(%x: {'seq(' * 150}float32[]{')' * 150}) {{\n  return x = %x\n}}\n"
    assert print_module(parse_module(text, max_depth=200)) == text
