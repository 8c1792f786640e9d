"""What is said of ops without a rule."""

from passes.vectorize.programs import reason
from passes.vectorize.rules.ops import program


def test_op_without_a_rule_is_the_reason():
    text = program("Det({0})", ["float32[2, 2]"], "float32[]", [True], {})
    assert reason(text) == "Det 'y': Det has no batching rule"
