"""Texts that are no programs: every fault is one LoadError with line, column, what was expected, and the fix."""

from __future__ import annotations

import pytest
from ir.programs import PROGRAMS, message_of

import whorl.ops
from whorl.errors import LoadError
from whorl.ir.dtypes import BY_NAME
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
]

FAULTS = [
    (
        "%y: float32[] = Sinn(%x)",
        "line 2, column 19: 'Sinn' is no known op\n  fix: did you mean 'Sin'?",
    ),
    (
        "%y: float32[] = MyOwnOp(%x)",
        "line 2, column 19: 'MyOwnOp' is no known op\n  fix: import the module that defines it before the text is read",
    ),
    (
        "%y: float32[] = Elu(%x) {alhpa = 1.0}",
        "line 2, column 28: Elu has no field 'alhpa'\n  fix: did you mean 'alpha'?",
    ),
    (
        "%y: float32[] = Elu(%x) {k = 1.0}",
        "line 2, column 28: Elu has no field 'k'\n  fix: its fields are alpha",
    ),
    (
        "%y: float32[] = Neg(%x) {k = 1.0}",
        "line 2, column 28: Neg has no field 'k'\n  fix: it has no fields",
    ),
    (
        "%y: float32[] = Elu(%x) {alpha = 1.0, alpha = 2.0}",
        "line 2, column 41: 'alpha' is given twice\n  fix: remove one of them",
    ),
    (
        '%y: float32[] = Elu(%x) {alpha = "1"}',
        'line 2, column 28: alpha of Elu is "1", expected float\n  fix: write the value as a dump of such an op does',
    ),
    (
        "%y: float32[] = Elu(%x) {alpha = True}",
        "line 2, column 28: alpha of Elu is True, expected float\n  fix: write the value as a dump of such an op does",
    ),
    (
        "%y: float32[] = Transpose(%x) {perm = (1, 2, 3, 4, 5.0)}",
        "line 2, column 34: perm of Transpose is (1, 2, 3, 4, ...), expected a tuple of int or None\n"
        "  fix: write the value as a dump of such an op does",
    ),
    (
        "%y: float32[] = Cast(%x) {to = float32[2]}",
        "line 2, column 29: to of Cast is float32[2], expected an element type\n"
        "  fix: write the value as a dump of such an op does",
    ),
    (
        "%y: float32[] = Cast(%x) {to = float23}",
        "line 2, column 34: 'float23' is no element type\n  fix: put it in double quotes if it is a text",
    ),
    (
        "%y: float32[] = Cast(%x)",
        "line 2, column 19: Cast lacks the field 'to'\n  fix: add {to = ...}",
    ),
    (
        "%y: float32[] = Constant() {value = {a = 1}}",
        "line 2, column 31: value of Constant is {...}, expected a tensor\n"
        "  fix: write the value as a dump of such an op does",
    ),
    (
        "_ = Loop(_, _) {collected = (Scanned(),)}",
        "line 2, column 19: collected of Loop is (Scanned(...)), expected a tuple of Collected\n"
        "  fix: write the value as a dump of such an op does",
    ),
    (
        "_ = Loop(_, _) {collected = (Collected(piece = 1),)}",
        "line 2, column 42: Collected has no field 'piece'\n  fix: its fields are axis, reverse, stack, declared, part",
    ),
    (
        "%y: float32[] = Add(%x)",
        "line 2, column 19: Add takes 2 inputs, not 1\n  fix: write _ for an input that is left out",
    ),
    (
        "%y: float32[] = Clip(%x, %x, %x, %x)",
        "line 2, column 19: Clip takes 1 to 3 inputs, not 4\n  fix: remove what is too many",
    ),
    (
        "%y: float32[] = Add(%x, _)",
        "line 2, column 19: Add needs its input 1, 'y'\n  fix: write a value in the place of _",
    ),
    (
        "%y: float32[] = Add(%x, %input)",
        "line 2, column 27: %input is not defined in its region before this place\n"
        "  fix: a region reads its arguments and its own earlier nodes; pass it outer values as arguments",
    ),
    (
        "%sum: float32[] = Add(%x, %sun)",
        "line 2, column 29: %sun is not defined in its region before this place\n"
        "  fix: a region reads its arguments and its own earlier nodes; pass it outer values as arguments",
    ),
    (
        "%total: float32[] = Neg(%x)\n  %y: float32[] = Neg(%totel)",
        "line 3, column 23: %totel is not defined in its region before this place\n  fix: did you mean 'total'?",
    ),
    (
        "%x: float32[] = Neg(%x)",
        "line 2, column 3: %x is defined twice in its region\n  fix: number it where another value has that name: %x~1",
    ),
    (
        "%y: float32[], %z: float32[] = Neg(%x)",
        "line 2, column 34: Neg 'y': has 2 outputs, the op gives 1",
    ),
    (
        "%y: int64[] = Neg(%x)",
        "line 2, column 3: %y is int64[] here, Neg gives float32[]\n  fix: correct the type",
    ),
    (
        "%c: int64[2] = Shape(%x)\n  %y: float32[] = Add(%x, %c)",
        "line 3, column 19: Add 'y': inputs have different element types: float32, int64\n  fix: insert a Cast",
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
        "%y: float32[N*M] = Neg(%x)",
        "line 2, column 16: found '*', expected '(', '+', ',', '-' or ']'\n  fix: docs/text-form.md shows the form",
    ),
    (
        "%y: float32[ceil(N, 2)] = Neg(%x)",
        "line 2, column 15: 'ceil' is no function of lengths\n  fix: use floor, mod, mul, min, max",
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
        "%y: float32[] = Neg(%x)\n  body() {\n    return\n  }",
        "line 2, column 19: Neg has no regions\n  fix: remove them",
    ),
    (
        "_ = Loop(_, _)",
        "line 2, column 7: Loop has regions\n  fix: write them after its line",
    ),
    (
        "_ = Loop(_, _)\n  body() {\n    return\n  }",
        "line 2, column 7: Loop: its inputs, its fields and its regions do not fit together\n"
        "  fix: compare the numbers of inputs, of regions, of their arguments and results with what the fields say",
    ),
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
        "%y: float32[N] = Constant() {value = float32[N] <1.0>}",
        "line 2, column 40: the shape of a tensor with elements has to be numbers",
    ),
    (
        f"%y: float32[0] = Constant() {{value = float32[0, {2**62}, {2**62}] <>}}",
        f"line 2, column 93: no array has the shape of float32[0, {2**62}, {2**62}]",
    ),
]

SECTIONS = [
    (
        "main(%x: float32[], %x~1: float32[]) { return }",
        "line 1, column 21: two inputs are called 'x'\n  fix: rename one of them",
    ),
    (
        "main(%x: float32[]) { return }\ndefaults {y = float32[] <1.0>}",
        "line 2, column 11: 'y' has a default but is no input",
    ),
    (
        "main(%x: float32[]) { return }\ndefaults {x = 1.0}",
        "line 2, column 11: the default of 'x' is no tensor\n  fix: write float32[2] <1.0 2.0>",
    ),
    (
        "main(%x: float32[]) { return }\nmetadata {a = 1, a = 2}",
        "line 2, column 18: 'a' is given twice\n  fix: remove one of them",
    ),
    (
        "main(%x: float32[]) { return y = %y }",
        "line 1, column 34: %y is not defined in its region before this place\n"
        "  fix: a region reads its arguments and its own earlier nodes; pass it outer values as arguments",
    ),
]


@pytest.mark.parametrize(("text", "message"), SYNTAX, ids=[text[:30] for text, _ in SYNTAX])
def test_syntax_error_says_what_was_expected(text: str, message: str) -> None:
    assert message_of(text) == message


@pytest.mark.parametrize(("line", "message"), FAULTS, ids=[line[:40] for line, _ in FAULTS])
def test_fault_of_a_node_says_place_and_fix(line: str, message: str) -> None:
    assert message_of(f"main(%x: float32[]) {{\n  {line}\n  return\n}}\n") == message


@pytest.mark.parametrize(("text", "message"), SECTIONS, ids=[text[-20:] for text, _ in SECTIONS])
def test_fault_of_the_module_says_place_and_fix(text: str, message: str) -> None:
    assert message_of(text) == message


def test_unknown_element_type_lists_all_of_them() -> None:
    expected = f"line 1, column 10: 'float31' is no element type\n  fix: use {', '.join(BY_NAME)}"
    assert message_of("main(%x: float31[]) { return }") == expected


def test_fault_inside_a_region_has_its_own_place() -> None:
    text = PROGRAMS["loop"].removeprefix("\n").replace("Add(%h, %step)", "Not(%h)")
    assert message_of(text) == "line 5, column 27: Not 'h': does not accept float32"


def test_outer_value_is_not_visible_inside() -> None:
    text = PROGRAMS["loop"].removeprefix("\n").replace("Add(%h, %step)", "Add(%h, %one)")
    assert message_of(text).startswith("line 5, column 35: %one is not defined in its region before this place")


def test_types_are_taken_as_they_are_without_check() -> None:
    text = "main(%x: float32[]) {\n  %y: int64[5], %z: float32[] = Neg(%x)\n  return y = %y\n}\n"
    assert print_module(parse_module(text, check=False)) == text


def test_wrong_shape_is_taken_as_it_is() -> None:
    text = "main(%x: float32[3]) {\n  %y: float32[7] = Neg(%x)\n  return y = %y\n}\n"
    assert print_module(parse_module(text)) == text


def test_region_faults_are_load_errors() -> None:
    with pytest.raises(LoadError) as caught:
        parse_region("body(%x: float32[]) {\n  return y = %x\n}")
    assert str(caught.value) == (
        "line 2, column 10: found 'y', expected '}' or a value like %x\n  fix: begin the name of a value with %"
    )
