"""Rules at work in a region: readers of values, new nodes, chains in one walk, and rule sets that do not end."""

import numpy as np
import pytest
from passes.programs import read

from whorl.ir.build import Builder
from whorl.ir.constants import Constant
from whorl.ir.graph import Module, Node
from whorl.ir.text import print_module
from whorl.ir.verify import verify
from whorl.ops.elementwise.arithmetic import Abs, Add, Neg, Sub
from whorl.ops.elementwise.functions import Exp, Sqrt
from whorl.passes.context import Context, PassOptions
from whorl.passes.fold_constants import fold_node
from whorl.passes.rewriting import apply_rules
from whorl.passes.rules.pattern import C1, C2, Match, NodeRule, Rule, RuleSet, X, Y, maker, once, op


def applied(text: str, *rules, is_folded: bool = False, **options) -> tuple[Module, Context]:
    module = read(text)
    context = Context(module, PassOptions(**options))
    apply_rules(module, context, RuleSet(rules), fold_node, is_folded=is_folded)
    verify(module)
    return module, context


def kinds(module: Module) -> list[str]:
    return [node.op.name for node in module.nodes() if not isinstance(node.op, Constant)]


CHAIN = """main(%x: float32[2]) {
  %a: float32[2] = Neg(%x)
  %b: float32[2] = Neg(%a)
  %c: float32[2] = Neg(%b)
  %d: float32[2] = Neg(%c)
  return d = %d
}"""
neg, add, sub, exp, absolute = op(Neg), op(Add), op(Sub), op(Exp), op(Abs)
TWICE = Rule("NegOfNeg", neg(neg(X)), X)


def test_chain_is_simplified_from_its_beginning_to_its_end_in_one_walk():
    module, context = applied(CHAIN, TWICE)
    assert module.main.results == module.main.arguments and context.report.edits["NegOfNeg"] == 2


def test_limit_stops_in_the_middle_of_a_chain():
    module, _ = applied(CHAIN, TWICE, limit=1)
    (d,) = module.main.results
    node = maker(d)
    assert node is not None and maker(node.inputs[0]) is not None
    assert node.inputs[0].owner.inputs == module.main.arguments  # type: ignore[union-attr]


@pytest.mark.parametrize(("results", "fits"), [("d = %d", True), ("d = %d, a = %a", False), ("d = %d, e = %d", True)])
def test_once_counts_readers_in_results_too(results, fits):
    rule = Rule("NegOfOnce", neg(once(exp(X))), X)
    text = f"""main(%x: float32[2]) {{
  %a: float32[2] = Exp(%x)
  %d: float32[2] = Neg(%a)
  return {results}
}}"""
    assert bool(applied(text, rule)[1].edits) is fits


def test_readers_of_a_node_that_is_gone_are_not_counted():
    """The sum is dropped, and with it one of the two readers of the exponential."""
    rules = Rule("SubOfSelf", sub(X, X), X), Rule("NegOfOnce", neg(once(exp(X))), X)
    text = """main(%x: float32[2]) {
  %a: float32[2] = Exp(%x)
  %s: float32[2] = Add(%a, %x)
  %r: float32[2] = Abs(%s)
  %d: float32[2] = Neg(%a)
  return d = %d, r = %r
}"""
    assert not applied(text, *rules)[1].edits
    drop = Rule("AbsOfAdd", absolute(add(Y, X)), X)
    module, context = applied(text, drop, *rules)
    assert context.edits == 2 and module.main.results == [module.main.arguments[0]] * 2


def test_node_that_a_rule_makes_is_typed_named_and_simplified_at_once():
    made = NodeRule("AbsAsSqrt", (Abs,), lambda m: m.add(Sqrt(), m.add(Neg(), m.add(Neg(), m.node.inputs[0]))))
    module, context = applied("main(%x: float32[N]) {\n  %y: float32[N] = Abs(%x)\n  return y = %y\n}", made, TWICE)
    (node,) = (node for node in module.main.nodes if node.outputs[0] in module.main.results)
    assert node.inputs == module.main.arguments and (node.outputs[0].name, str(node.outputs[0].type)) == (
        "y",
        "float32[N]",
    )
    assert context.report.edits["NegOfNeg"] == 1


def test_constants_that_a_rule_makes_are_folded_though_the_module_is():
    meet = Rule("AddOfAdd", add(once(add(X, C1)), C2), add(X, add(C1, C2)))
    text = """main(%x: int32[2]) {
  %a: int32[] = Constant() {value = int32[] <1>}
  %b: int32[] = Constant() {value = int32[] <2>}
  %s: int32[2] = Add(%x, %a)
  %t: int32[2] = Add(%s, %b)
  %k: int32[] = Neg(%a)
  %u: int32[2] = Sub(%t, %k)
  return u = %u
}"""
    module, context = applied(text, meet, is_folded=True)
    assert "Neg" in kinds(module) and [t.invocations for t in context.report.folded.values()] == [1]
    assert "Neg" not in kinds(applied(text, meet)[0])


def test_scalar_of_numpy_becomes_a_constant_of_rank_zero():
    rule = NodeRule("Half", (Abs,), lambda m: m.constant(np.float32(0.5)))
    module, _ = applied("main(%x: float32[]) {\n  %y: float32[] = Abs(%x)\n  return y = %y\n}", rule)
    (y,) = module.main.results
    assert str(y.type) == "float32[]" and isinstance(y.owner, Node) and y.owner.op.run() == 0.5


def test_rules_that_undo_each_other_end():
    rules = Rule("A", add(X, Y), add(Y, X)), NodeRule("B", (Exp,), lambda m: m.add(Exp(), m.node.inputs[0]))
    text = """main(%x: float32[2], %y: float32[2]) {
  %s: float32[2] = Add(%x, %y)
  %e: float32[2] = Exp(%s)
  return e = %e
}"""
    _, context = applied(text, *rules)
    assert 0 < context.edits <= 2 * 40


def test_rules_see_one_region_at_a_time():
    text = """main(%c: bool[], %x: float32[2]) {
  %n: float32[2] = Neg(%x)
  %r: float32[2] = If(%c, %n)
  then_branch(%a: float32[2]) {
    %p: float32[2] = Neg(%a)
    return %p
  }
  else_branch(%a: float32[2]) {
    %p: float32[2] = Neg(%a)
    %q: float32[2] = Neg(%p)
    return %q
  }
  return r = %r
}"""
    module, context = applied(text, TWICE)
    assert context.edits == 1 and kinds(module).count("Neg") == 3


def test_rule_that_gives_nothing_leaves_the_module_as_it_was():
    nothing = NodeRule("Nothing", (Neg,), lambda m: None)
    module, context = applied(CHAIN, nothing, Rule("Never", neg(X), X, (lambda m: False,)))
    assert not context.edits and print_module(module).strip() == CHAIN


def test_each_output_of_a_node_is_replaced():
    def swap(m: Match):
        return [m.add(Neg(), m.node.inputs[0]), m.add(Abs(), m.node.inputs[0])]

    split = read("""main(%x: float32[2, 2]) {
  %a: float32[1, 2], %b: float32[1, 2] = Split(%x) {output_count = 2}
  return a = %a, b = %b
}""")
    (node,) = split.main.nodes
    apply_rules(split, Context(split), RuleSet([NodeRule("Swap", (type(node.op),), swap)]), fold_node)
    assert [value.owner.op.name for value in split.main.results] == ["Neg", "Abs"]  # type: ignore[union-attr]
    assert isinstance(Builder(split.main, Context(split).inference), Builder)
