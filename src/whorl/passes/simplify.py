"""The rules of algebra, applied in every region.

Rules keep the bits of floats: `x - 0`, `x / 4`, `-(-x)` and extremes without zeros are rewritten, `x + 0` and `0 * x`
are not: they are not `x` for -0, and not 0 for NaN.
"""

from __future__ import annotations

from whorl.ir.graph import Module
from whorl.passes.context import Context
from whorl.passes.fold_constants import fold_node
from whorl.passes.rewriting import apply_rules
from whorl.passes.rules import arithmetic, distances, identities, movement, selection, sequences, spreading, weights
from whorl.passes.rules.pattern import AnyRule, RuleSet

RULES: tuple[AnyRule, ...] = (
    *identities.RULES,
    *arithmetic.RULES,
    *distances.RULES,
    *movement.RULES,
    *selection.RULES,
    *sequences.RULES,
    *spreading.RULES,
    *weights.RULES,
)


def simplify(module: Module, context: Context) -> None:
    """Apply the rules once to every node, and fold what they make constant."""
    apply_rules(module, context, RuleSet(RULES, context.options.disabled), fold_node, is_folded=True)
