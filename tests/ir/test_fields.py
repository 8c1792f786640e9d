"""Ops from the fields that a text gives: names, defaults, types, numbers of inputs and regions."""

from __future__ import annotations

import pytest
from ir.programs import message_of

import whorl.ops
from whorl.errors import LoadError
from whorl.ir.fields import check_inputs
from whorl.ir.graph import Op
from whorl.ir.parse import parse_module
from whorl.ops.control.flow import Loop, Scanned
from whorl.ops.elementwise.arithmetic import Clip
from whorl.ops.elementwise.nonlinear import Elu
from whorl.ops.movement.axes import Concat, Transpose

assert whorl.ops

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
        "%y: float32[] = Neg(%x)\n  body() {\n    return\n  }",
        "line 2, column 19: Neg has no regions\n  fix: remove them",
    ),
    (
        "_ = Loop(_, _)",
        "line 2, column 7: Loop has regions\n  fix: write them after its line",
    ),
]


@pytest.mark.parametrize(("line", "message"), FAULTS, ids=[line[:40] for line, _ in FAULTS])
def test_fault_of_a_node_has_location_and_fix(line: str, message: str) -> None:
    assert message_of(f"main(%x: float32[]) {{\n  {line}\n  return\n}}\n") == message


def op_of(text: str) -> Op:
    module = parse_module(f"main(%x: float32[2, 2]) {{\n  {text}\n  return\n}}", check=False)
    (node,) = module.main.nodes
    return node.op


def test_fields_that_are_left_out_have_their_defaults() -> None:
    assert op_of("%y: float32[] = Elu(%x)") == Elu() and op_of("%y: float32[] = Elu(%x) {alpha = 2}") == Elu(2.0)


@pytest.mark.parametrize(
    ("text", "perm"), [("", None), ("{perm = None}", None), ("{perm = (1, 0)}", (1, 0)), ("{perm = ()}", ())]
)
def test_field_of_several_kinds_takes_each(text: str, perm: tuple[int, ...] | None) -> None:
    assert op_of(f"%y: float32[] = Transpose(%x) {text}") == Transpose(perm)


def test_struct_inside_a_field_is_built() -> None:
    op = op_of("""_ = Loop(_, _) {scanned = (Scanned(axis = 1, part = 2),),
      collected = (Collected(declared = float32[N]), Collected())}
  body() { return }""")
    assert isinstance(op, Loop) and op.scanned == (Scanned(1, part=2),)
    assert [str(each.declared) for each in op.collected] == ["float32[N]", "None"]


def test_fields_have_the_names_of_a_mapping() -> None:
    module = parse_module("main() { return }\nmetadata {a = {b = (1, {c = None})}, d = float32}")
    assert module.metadata["a"]["b"][0] == 1 and str(module.metadata["d"]) == "float32"


@pytest.mark.parametrize(
    ("op", "present", "message"),
    [
        (Clip(), [True, False, True], ""),
        (Concat(0), [True] * 9, ""),
        (Concat(0), [], ""),
        (Clip(), [], "here: Clip takes 1 to 3 inputs, not 0\n  fix: write _ for an input that is left out"),
        (Transpose(), [False], "here: Transpose needs its input 0, 'x'\n  fix: write a value in the place of _"),
    ],
)
def test_numbers_of_inputs_fit_the_op(op: Op, present: list[bool], message: str) -> None:
    if not message:
        check_inputs(op, present, "here")
        return
    with pytest.raises(LoadError) as caught:
        check_inputs(op, present, "here")
    assert str(caught.value) == message
