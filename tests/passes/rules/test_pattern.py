"""Patterns: what they fit, what their names stand for, and the order in which rules are tried."""

import numpy as np
import pytest
from passes.programs import read

from whorl.ir.graph import Node
from whorl.ops.core.base import Elementwise
from whorl.ops.elementwise.arithmetic import Add, Clip, Div, Mul, Neg, Sub
from whorl.passes.rules.pattern import (
    ANY,
    C1,
    C2,
    Match,
    NodeRule,
    Rule,
    RuleSet,
    X,
    Y,
    constant_of,
    fits,
    is_constant,
    maker,
    once,
    op,
)

add, sub, mul, neg, clip = op(Add), op(Sub), op(Mul), op(Neg), op(Clip)
PROGRAM = read("""main(%x: float32[2], %y: float32[2]) {
  %k: float32[] = Constant() {value = float32[] <1.0>}
  %a: float32[2] = Add(%x, %k)
  %b: float32[2] = Add(%k, %x)
  %c: float32[2] = Add(%a, %k)
  %d: float32[2] = Sub(%x, %x)
  %e: float32[2] = Sub(%x, %y)
  %f: float32[2] = Clip(%x, _, %k)
  %g: float32[1], %h: float32[1] = Split(%x) {output_count = 2}
  %n: float32[1] = Neg(%h)
  return a = %a, b = %b, c = %c, d = %d, e = %e, f = %f, n = %n
}""")
VALUES = {value.name: value for node in PROGRAM.main.nodes for value in node.outputs}
VALUES |= {value.name: value for value in PROGRAM.main.arguments}


class Readers:
    """A rewriter that counts what it is told; nothing is made."""

    def __init__(self, count: int) -> None:
        self.count = count

    def uses(self, value) -> int:
        return self.count


def matched(pattern, name: str, uses: int = 1) -> dict[str, str] | None:
    """The names of values that a pattern's names stand for, by the name of a value; None where it does not fit."""
    value = VALUES[name]
    assert isinstance(value.owner, Node)
    match = Match(value.owner, Readers(uses))  # type: ignore[arg-type]
    return {key: v.name for key, v in match.values.items()} if fits(pattern, value, match) else None


@pytest.mark.parametrize(
    ("pattern", "value", "names"),
    [
        (add(X, C1), "a", {"x": "x", "c1": "k"}),
        (add(X, C1), "b", None),
        (add(C1, X), "b", {"c1": "k", "x": "x"}),
        (add(ANY, ANY), "a", None),
        (add(add(X, C1), C2), "c", {"x": "x", "c1": "k", "c2": "k"}),
        (add(add(X, C1), C1), "c", {"x": "x", "c1": "k"}),
        (sub(X, X), "d", {"x": "x"}),
        (sub(X, X), "e", None),
        (sub(X, Y), "d", {"x": "x", "y": "x"}),
        (sub(X, Y), "a", None),
        (clip(X, ANY, C1), "f", None),
        (clip(X, C1), "f", None),
        (neg(X), "n", {"x": "h"}),
    ],
)
def test_pattern_fits_the_program_it_stands_for(pattern, value, names):
    assert matched(pattern, value) == names


@pytest.mark.parametrize(("uses", "does_fit"), [(0, False), (1, True), (2, False)])
def test_once_fits_a_node_that_one_reads(uses, does_fit):
    assert (matched(add(once(add(X, C1)), C2), "c", uses) is not None) is does_fit
    assert matched(add(add(X, C1), C2), "c", uses) is not None


def test_second_output_of_a_node_is_not_what_a_pattern_stands_for():
    split = op(type(maker(VALUES["g"]).op))  # type: ignore[union-attr]
    assert matched(neg(split(X)), "n") is None and matched(split(X), "g") == {"x": "x"}
    assert matched(split(X), "h") is None


def test_omitted_operand_fits_nothing():
    match = Match(maker(VALUES["f"]), Readers(1))  # type: ignore[arg-type]
    assert not fits(ANY, None, match)


def test_constants_and_their_elements():
    assert is_constant(VALUES["k"]) and not is_constant(VALUES["a"]) and not is_constant(None)
    assert constant_of(VALUES["x"]) is None and maker(VALUES["x"]) is None and maker(None) is None
    match = Match(maker(VALUES["a"]), Readers(1))  # type: ignore[arg-type]
    assert fits(add(X, C1), VALUES["a"], match) and match.array("c1") == np.float32(1)
    assert match.dtype == np.float32 and match.result is VALUES["a"] and str(match.type("x")) == "float32[2]"


def test_size_counts_nodes_and_constants():
    assert [p.size for p in (neg(X), add(X, Y), add(X, C1), add(add(X, C1), C2), add(ANY, ANY))] == [1, 1, 2, 4, 1]


LARGE = Rule("Large", add(add(X, C1), C2), X)
SMALL = Rule("Small", add(X, C1), X)
SAME = Rule("Same", add(X, C2), X)
OTHER = Rule("Other", sub(X, X), X)
FAMILY = NodeRule("Family", (Elementwise,), lambda m: None)


def test_larger_patterns_are_tried_first_then_in_their_order():
    rules = RuleSet([FAMILY, SMALL, OTHER, SAME, LARGE])
    assert [rule.name for rule in rules[Add()]] == ["Large", "Small", "Same", "Family"]
    assert [rule.name for rule in rules[Sub()]] == ["Other", "Family"]
    assert rules[Add()] is rules[Add()]


def test_rules_of_a_class_are_for_its_subclasses_and_patterns_are_not():
    rules = RuleSet([FAMILY, SMALL])
    assert [rule.name for rule in rules[Div()]] == ["Family"] and not rules[maker(VALUES["k"]).op]  # type: ignore[union-attr]


def test_disabled_rules_are_left_out():
    assert [rule.name for rule in RuleSet([SMALL, SAME], ["Small", "unknown"])[Add()]] == ["Same"]


def test_rule_whose_condition_fails_does_not_apply():
    node = maker(VALUES["a"])
    assert node is not None
    for answer in (True, False):
        rule = Rule("R", add(X, C1), X, (lambda m: m["x"].name == "x", lambda m, answer=answer: answer))
        assert rule.apply(node, Readers(1)) == ([VALUES["x"]] if answer else None)  # type: ignore[arg-type]


def test_result_may_be_one_value_several_or_none():
    node = maker(VALUES["a"])
    assert node is not None
    for result, values in (
        (lambda m: m["x"], [VALUES["x"]]),
        (lambda m: None, None),
        (lambda m: [m["c1"]], [VALUES["k"]]),
    ):
        assert Rule("R", add(X, C1), result).apply(node, Readers(1)) == values  # type: ignore[arg-type]
