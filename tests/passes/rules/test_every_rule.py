"""Each rule alone, on programs that its own pattern describes, over every element type and with special values."""

import numpy as np
import pytest
from passes.bits import assert_same_bits, copied, interpreted
from passes.random_programs import DTYPES, special

from whorl.errors import TypeRuleError
from whorl.ir.build import Builder
from whorl.ir.dtypes import BOOL, BY_NAME
from whorl.ir.graph import Module, Region, Value
from whorl.ir.infer import Inference
from whorl.ir.types import TensorType
from whorl.ops.elementwise.comparison import Where
from whorl.ops.elementwise.logic import BitShift
from whorl.passes.context import Context, PassOptions
from whorl.passes.fold_constants import fold_node
from whorl.passes.rewriting import apply_rules
from whorl.passes.rules.pattern import Apply, Pattern, Rule, RuleSet
from whorl.passes.simplify import RULES

PATTERNS = [rule for rule in RULES if isinstance(rule, Rule)]
FAST_MATH = {"MulOfMatMul", "MatMulOfMul", "MatMulOfMatMul"}
SHAPE = (2, 3)
ATTRIBUTES = {BitShift: {"direction": "LEFT"}}
TRIES = 40


class Program:
    """A program that a pattern describes: constants are drawn, everything else is an argument."""

    def __init__(self, pattern: Apply, dtype: np.dtype, rng: np.random.Generator) -> None:
        self.rng, self.values = rng, dict[str, Value]()
        self.region = Region("main")
        self.build = Builder(self.region, Inference())
        self.region.results = [self.value(pattern, dtype)]
        self.module = Module(self.region, ["r"])
        arguments = [(v.name, v.type) for v in self.region.arguments]
        self.feeds = {name: special(rng, type.dtype, type.shape) for name, type in arguments}  # type: ignore[union-attr]

    def value(self, pattern: Pattern, dtype: np.dtype) -> Value:
        if isinstance(pattern, Apply):
            inputs = [BOOL if pattern.op is Where and k == 0 else dtype for k in range(len(pattern.inputs))]
            operands = [self.value(p, each) for p, each in zip(pattern.inputs, inputs, strict=True)]
            return self.build.add(pattern.op(**ATTRIBUTES.get(pattern.op, {})), *operands)
        if pattern.name not in self.values:
            shape = SHAPE if not pattern.constant or self.rng.random() < 0.5 else ()
            if pattern.constant or (pattern.constant is None and self.rng.random() < 0.3):
                actual = self.build.constant(special(self.rng, dtype, shape), pattern.name)
            else:
                actual = self.region.add_argument(pattern.name, TensorType(dtype, shape))
            self.values[pattern.name] = actual
        return self.values[pattern.name]


def applied(rule: Rule, dtype: np.dtype, rng: np.random.Generator) -> bool:
    """Whether the rule fits a program that is drawn; the results must then be the same."""
    try:
        program = Program(rule.pattern, dtype, rng)
    except TypeRuleError:
        return False
    module = copied(program.module)
    context = Context(module, PassOptions())
    apply_rules(module, context, RuleSet([rule]), fold_node, is_folded=True)
    if context.report.edits[rule.name]:
        assert_same_bits(interpreted(program.module, program.feeds), interpreted(module, program.feeds))
    return bool(context.report.edits[rule.name])


@pytest.mark.parametrize("rule", PATTERNS, ids=lambda rule: rule.name)
def test_rule_keeps_every_bit(rule: Rule) -> None:
    rng = np.random.default_rng(0)
    fits = sum(applied(rule, BY_NAME[name], rng) for name in DTYPES for _ in range(TRIES // len(DTYPES) + 4))
    assert bool(fits) is (rule.name not in FAST_MATH)


def test_rules_have_names_of_their_own() -> None:
    names = [rule.name for rule in RULES]
    assert len(set(names)) == len(names)
