"""The verifier: every rule is broken once, and the message shown whole."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from ir.programs import PROGRAMS

import whorl.ops
from whorl.errors import VerifyError
from whorl.ir import dims
from whorl.ir.graph import Module, Node, Value
from whorl.ir.parse import parse_module
from whorl.ir.types import SequenceType, TensorType
from whorl.ir.verify import verify

assert whorl.ops
FLOAT32, INT64 = np.dtype(np.float32), np.dtype(np.int64)
TEXT = """
main(%x: float32[N], %n: int64[]) {
  %a: float32[N] = Neg(%x)
  %b: float32[N] = Add "sum" (%a, %x)
  %y: float32[N] = Loop "loop" (%n, _, %b) {carried = 1}
  body(%i: int64[], %go: bool[], %h: float32[N]) {
    %g: float32[N] = Exp "grow" (%h)
    return %go, %g
  }
  return y = %y
}
"""


def break_names(module: Module) -> None:
    module.output_names.append("z")


def break_inputs(module: Module) -> None:
    module.main.arguments[1].name = "x"


def break_argument(module: Module) -> None:
    module.main.arguments.reverse()


def break_argument_inside(module: Module) -> None:
    module.main.nodes[2].regions[0].arguments[2].owner = module.main


def break_order(module: Module) -> None:
    module.main.nodes[:2] = module.main.nodes[1::-1]


def break_scope(module: Module) -> None:
    """A node of a body reads a value from outside."""
    module.main.nodes[2].regions[0].nodes[0].inputs[0] = module.main.nodes[0].outputs[0]


def break_output(module: Module) -> None:
    module.main.nodes[0].outputs[0].index = 1


def break_owner(module: Module) -> None:
    module.main.nodes[0].outputs[0].owner = module.main.nodes[1]


def break_uniqueness(module: Module) -> None:
    module.main.nodes.insert(1, module.main.nodes[0])


def break_result(module: Module) -> None:
    value = module.main.results[0]
    module.main.results[0] = Value("y", value.type, value.owner, 0)


def break_result_inside(module: Module) -> None:
    module.main.nodes[2].regions[0].results[1] = module.main.nodes[1].outputs[0]


def break_dim(module: Module) -> None:
    module.main.nodes[0].outputs[0].type = TensorType(FLOAT32, (dims.UNKNOWN,))


def break_type(module: Module) -> None:
    module.main.nodes[0].outputs[0].type = TensorType(INT64, (3,))


def break_type_inside(module: Module) -> None:
    module.main.nodes[2].regions[0].nodes[0].outputs[0].type = TensorType(INT64, (3,))


def break_argument_type_inside(module: Module) -> None:
    module.main.nodes[2].regions[0].arguments[2].type = TensorType(INT64, (3,))


def break_kind(module: Module) -> None:
    module.main.nodes[2].outputs[0].type = SequenceType(TensorType(FLOAT32))


BREAKS: dict[Callable[[Module], None], str] = {
    break_names: "1 results have 2 names",
    break_inputs: "two inputs have the same name",
    break_argument: "the region: %n: int64[] does not know its owner or its place among the values there",
    break_argument_inside: "the region in body of Loop 'loop': %h: float32[N] does not know its owner or its place "
    "among the values there",
    break_order: "Add 'sum': reads %a: float32[N], which is not in its region before it",
    break_scope: "Exp 'grow' in body of Loop 'loop': reads %a: float32[N], which is not in its region before it",
    break_output: "Neg 'a': %a: float32[N] does not know its owner or its place among the values there",
    break_owner: "Neg 'a': %a: float32[N] does not know its owner or its place among the values there",
    break_uniqueness: "Neg 'a': gives %a: float32[N] a second time",
    break_result: "the region: gives the result %y: float32[N], which it does not hold",
    break_result_inside: "the region in body of Loop 'loop': gives the result %b: float32[N], which it does not hold",
    break_dim: "Neg 'a': %a: float32[?] has a dim without a name",
    break_type: "Neg 'a': %a: int64[3] is inferred as float32[N]",
    break_type_inside: "Exp 'grow': %g: int64[3] is inferred as float32[N]",
    break_argument_type_inside: "Loop 'loop': %h: int64[3] is inferred as float32[N]",
    break_kind: "Loop 'loop': %y: seq(float32[*]) is inferred as float32[N]",
}


@pytest.mark.parametrize(("damage", "message"), BREAKS.items(), ids=[each.__name__ for each in BREAKS])
def test_broken_rule_is_named(damage: Callable[[Module], None], message: str) -> None:
    module = parse_module(TEXT)
    verify(module)
    damage(module)
    with pytest.raises(VerifyError) as caught:
        verify(module)
    assert str(caught.value) == message


@pytest.mark.parametrize("name", ["empty", "loop", "loop without outputs", "scan", "nested", "fields", "tensors"])
def test_program_that_keeps_the_rules_is_left_alone(name: str) -> None:
    module = parse_module(PROGRAMS[name])
    types = [value.type for node in module.nodes() for value in node.outputs]
    verify(module)
    assert [value.type for node in module.nodes() for value in node.outputs] == types


def test_wrong_shape_breaks_no_rule() -> None:
    module = parse_module(TEXT)
    module.main.nodes[0].outputs[0].type = TensorType(FLOAT32, (7,))
    verify(module)


def test_two_regions_may_not_share_a_value() -> None:
    module = parse_module(TEXT)
    body = module.main.nodes[2].regions[0]
    shared = Node(body.nodes[0].op, [module.main.arguments[0]])
    shared.outputs = body.nodes[0].outputs
    module.main.nodes.append(shared)
    with pytest.raises(VerifyError) as caught:
        verify(module)
    assert str(caught.value) == "Exp 'g': %g: float32[N] does not know its owner or its place among the values there"
