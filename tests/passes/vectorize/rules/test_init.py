"""Which ops have a rule, and what is said of the others."""

from passes.vectorize.programs import reason
from passes.vectorize.rules.ops import program

from whorl.ir.graph import REGISTRY
from whorl.passes.vectorize.rules import REASONS, rule_of

DRAWS = {
    "Bernoulli",
    "Dropout",
    "Multinomial",
    "RandomNormal",
    "RandomNormalLike",
    "RandomUniform",
    "RandomUniformLike",
}
"""Ops that `regions` refuses, since they would draw for all rows at once."""
REGIONS = {"If", "Loop"}
"""Ops that `regions` computes."""
WITHOUT = {"Constant": "it has no operands", "OpaqueLayer": "nothing is known of what it computes"}


def test_every_op_has_a_rule_or_a_reason():
    ruled = {name for name, kind in REGISTRY.items() if rule_of(kind)}
    refused = {kind.__name__ for kind in REASONS}
    assert set(REGISTRY) == ruled | refused | DRAWS | REGIONS | WITHOUT.keys()
    assert not ruled & refused and len(ruled) >= 180


def test_op_without_a_rule_is_the_reason():
    text = program("NonZero({0})", ["float32[2, 2]"], "int64[*]", [True], {})
    assert reason(text) == "NonZero 'y': results of rows may differ in length"
