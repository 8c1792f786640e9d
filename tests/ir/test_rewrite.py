"""Values in the place of others: every node is visited once, and what reads a new value is typed anew."""

import numpy as np
import pytest

from whorl.ir.build import Builder
from whorl.ir.graph import Module, Node
from whorl.ir.infer import Inference
from whorl.ir.parse import parse_module
from whorl.ir.rewrite import count_uses, resumed_inference, rewrite
from whorl.ir.text import print_module
from whorl.ir.verify import verify
from whorl.ops.elementwise.arithmetic import Abs, Neg

PROGRAM = """main(%c: bool[], %x: float32[N, 3]) {
  %n: float32[N, 3] = Neg(%x)
  %r: float32[N, 3] = If(%c, %n)
  then_branch(%a: float32[N, 3]) {
    %e: float32[N, 3] = Exp(%a)
    return %e
  }
  else_branch(%a: float32[N, 3]) {
    return %a
  }
  %s: int64[2] {N, 3} = Shape(%r)
  return r = %r, s = %s
}
"""


def read(text: str = PROGRAM) -> Module:
    module = parse_module(text)
    Inference().region(module.main)
    return module


def test_every_node_is_visited_once_in_order_outer_ones_first():
    module, seen = read(), []

    def visit(node: Node, build: Builder):
        seen.append((node.op.name, build.region.name))

    assert not rewrite(module.main, resumed_inference(module), visit)
    assert seen == [("Neg", "main"), ("If", "main"), ("Exp", "then_branch"), ("Shape", "main")]
    assert print_module(module) == PROGRAM


def test_new_value_replaces_the_old_one_in_nodes_and_results():
    module = read()

    def visit(node: Node, build: Builder):
        return [build.add(Abs(), node.inputs[0], name="b")] if isinstance(node.op, Neg) else None

    assert rewrite(module.main, resumed_inference(module), visit)
    verify(module)
    assert print_module(module) == PROGRAM.replace("%n: float32[N, 3] = Neg", '%b: float32[N, 3] = Abs "b" ').replace(
        "%n)", "%b)"
    )


def test_type_of_a_new_value_goes_on_through_regions_and_known_elements():
    module = read()

    def visit(node: Node, build: Builder):
        return [build.constant(np.ones((5, 3), np.float32), "k")] if isinstance(node.op, Neg) else None

    rewrite(module.main, resumed_inference(module), visit)
    verify(module)
    text = print_module(module)
    assert "%e: float32[5, 3] = Exp" in text and "%s: int64[2] {5, 3} = Shape" in text


def test_output_without_readers_may_be_replaced_by_none():
    module = read("""main(%x: float32[4]) {
  %a: float32[2], %b: float32[2] = Split(%x) {output_count = 2}
  return b = %b
}""")

    def visit(node: Node, build: Builder):
        return [None, build.add(Neg(), node.outputs[1])] if len(node.outputs) == 2 else None

    (split,) = module.main.nodes
    assert rewrite(module.main, resumed_inference(module), visit)
    assert module.main.results[0].owner.op == Neg() and split not in module.main.nodes


def test_nodes_inside_a_node_that_is_replaced_are_not_visited():
    module, seen = read(), []

    def visit(node: Node, build: Builder):
        seen.append(node.op.name)
        return [node.inputs[1]] if node.regions else None

    assert rewrite(module.main, resumed_inference(module), visit)
    assert seen == ["Neg", "If", "Shape"]


def test_error_on_the_way_leaves_the_region_whole():
    module = read()

    def visit(node: Node, build: Builder):
        if node.op.name == "If":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        rewrite(module.main, resumed_inference(module), visit)
    assert print_module(module) == PROGRAM


def test_inference_goes_on_without_the_names_that_a_module_has():
    module = read("""main(%x: float32[N]) {
  %i: int64[1, i.1] = NonZero(%x)
  return i = %i
}""")
    inference = resumed_inference(module)
    build = Builder(module.main, inference)
    (i,) = module.main.results
    again = build.add(i.owner.op, module.main.arguments[0], name="i")
    assert str(i.type) == "int64[1, i.1]" and again.type != i.type
    assert {"N", "i.1"} <= inference.used


def test_uses_count_nodes_operands_and_results():
    module = read("""main(%x: float32[2], %y: float32[2]) {
  %a: float32[2] = Add(%x, %x)
  %b: float32[2] = Clip(%a, _, _)
  return a = %a, b = %b, c = %b
}""")
    uses = count_uses(module.main)
    values = [*module.main.arguments, *(node.outputs[0] for node in module.main.nodes)]
    assert [uses[value] for value in values] == [2, 0, 2, 2] and None not in uses
