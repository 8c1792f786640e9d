"""The type rules of If and Loop: what branches and iterations give, lengths, and refusals."""

import numpy as np
import pytest
from ir.programs import message_of
from passes.programs import read

from whorl.ir.text import format_type
from whorl.ir.types import TensorType
from whorl.ops.control.flow import Collected, Scanned, first_captured


def types(text: str) -> list[str]:
    """The types of the results of a program, by inference."""
    return [format_type(value.type) for value in read(text).main.results]


BRANCHES = """main(%c: {c}, %x: float32[N, 2], %y: float32[{y}]) {{
  %r: float32[*] = If(%c, %x, %y)
  then_branch(%a: float32[*], %b: float32[*]) {{
    return %a
  }}
  else_branch(%a: float32[*], %b: float32[*]) {{
    return %b
  }}
  return r = %r
}}"""


@pytest.mark.parametrize(
    ("y", "type"), [("N, 2", "float32[N, 2]"), ("N, 3", "float32[N, r.1]"), ("N", "float32[*]"), ("*", "float32[*]")]
)
def test_branches_of_two_shapes_give_what_both_have(y, type):
    assert types(BRANCHES.format(c="bool[]", y=y)) == [type]


@pytest.mark.parametrize(("known", "type"), [("True", "float32[N, 2]"), ("False", "float32[5]")])
def test_branch_that_is_surely_taken_gives_the_type(known, type):
    text = BRANCHES.format(c="bool[1]", y="5").replace(
        "  %r:", f"  %k: bool[] = Constant() {{value = bool[] <{known}>}}\n  %r:"
    )
    assert types(text.replace("If(%c", "If(%k")) == [type]


LOOP = """main(%n: {n}, %c: {c}, %x: float32[{x}]) {{
  %y: float32[*], %all: float32[*] = Loop({trip}, {condition}, %x) {{carried = 1, collected = ({how},){keep}}}
  body(%i: int64[], %g: bool[], %s: float32[*]) {{
    %t: float32[*] = {body}
    return {answer}, %t, %s
  }}
  return y = %y, all = %all
}}"""
FIELDS = {
    "n": "int64[]",
    "c": "bool[]",
    "x": "2, 3",
    "trip": "%n",
    "condition": "_",
    "how": "Collected()",
    "keep": "",
    "body": "Neg(%s)",
    "answer": "%g",
}


@pytest.mark.parametrize(
    ("fields", "y", "collected"),
    [
        ({}, "2, 3", "all.0, 2, 3"),
        ({"how": "Collected(axis = 1)"}, "2, 3", "2, all.1, 3"),
        ({"how": "Collected(axis = -1)"}, "2, 3", "2, 3, all.2"),
        ({"how": "Collected(stack = False)"}, "2, 3", "all.0, 3"),
        ({"body": "Concat(%s, %s) {axis = 0}"}, "y.0, 3", "all.0, all.1, 3"),
        ({"body": "Concat(%s, %s) {axis = 0}", "keep": ", keep_shapes = True"}, "2, 3", "all.0, 2, 3"),
    ],
)
def test_carried_value_has_a_type_that_every_iteration_keeps(fields, y, collected):
    assert types(LOOP.format(**FIELDS | fields)) == [f"float32[{y}]", f"float32[{collected}]"]


LENGTHS = [("<4>", "_", 4), ("<0>", "_", 0), ("<-3>", "_", 0)]


@pytest.mark.parametrize(("trip", "condition", "length"), LENGTHS)
def test_known_trip_count_is_the_length_of_what_is_collected(trip, condition, length):
    text = LOOP.format(**FIELDS | {"trip": "%k", "condition": condition})
    text = text.replace("  %y:", f"  %k: int64[] = Constant() {{value = int64[] {trip}}}\n  %y:", 1)
    assert types(text)[1] == f"float32[{length}, 2, 3]"


REFUSED = [
    ({"n": "float32[]"}, "the trip count is float32[], expected an integer"),
    ({"n": "int64[2]"}, "the trip count is int64[2], expected one element\n  fix: pass a scalar or a tensor of one"),
    ({"condition": "%n"}, "the condition is int64[], expected bool"),
    ({"c": "bool[0]", "condition": "%c"}, "the condition is bool[0], expected one element"),
    ({"answer": "%i"}, "the body's condition is int64[], expected bool"),
    ({"body": "Cast(%s) {to = int8}"}, "carried value 0 is float32[2, 3] before an iteration and int8[2, 3] after it"),
]


@pytest.mark.parametrize(("fields", "message"), REFUSED)
def test_loop_that_does_not_fit_says_why(fields, message):
    text = LOOP.format(**FIELDS | fields)
    if "int8" in fields.get("body", ""):
        text = text.replace("%t: float32[*]", "%t: int8[*]")
    assert message in message_of(text)


@pytest.mark.parametrize(
    ("how", "length", "slice"),
    [
        (Scanned(), 6, (4,)),
        (Scanned(1), 4, (6,)),
        (Scanned(-1), 4, (6,)),
        (Scanned(0, keep_axis=True, part=4), 1, (4, 4)),
        (Scanned(1, True, True, 2), 2, (6, 2)),
    ],
)
def test_slices_and_their_number(how, length, slice):
    type = TensorType(np.dtype(np.float32), (6, 4))
    assert how.length(type) == length and how.slice_type(type).shape == slice


@pytest.mark.parametrize(
    ("how", "shape"),
    [
        (Collected(), (9, 2, 3)),
        (Collected(-1), (2, 3, 9)),
        (Collected(stack=False), (18, 3)),
        (Collected(1, stack=False, part=5), (2, 45)),
    ],
)
def test_type_of_so_many_elements_together(how, shape):
    assert how.collected_type(TensorType(np.dtype(np.float32), (2, 3)), 9).shape == shape


def test_captured_operands_come_after_all_others():
    main = read(LOOP.format(**FIELDS)).main
    assert first_captured(main.nodes[0]) == 3
    branch = read(BRANCHES.format(c="bool[]", y="N")).main.nodes[0]
    assert first_captured(branch) == 1
