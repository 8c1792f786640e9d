"""Rules over nodes: a pattern to look for, conditions, and the pattern that takes its place.

A pattern is written as the program it stands for: `add(once(add(x, c1)), c2)` is the sum of a value `x`, which is no
constant, and two constants, where nothing else reads the inner sum.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from whorl.ir.constants import Constant, as_array
from whorl.ir.graph import Node, Op, Value
from whorl.ir.types import TensorType
from whorl.passes.context import Context


class Variable(Struct, frozen=True):
    """Stands for any value, or only for constants (`constant` true) or for everything else (false)."""

    name: str
    constant: bool | None = None


class Apply(Struct, frozen=True):
    """Stands for a node of an op class; `once`: nothing else reads it. In a result, for a node with the op `op()`."""

    op: type[Op]
    inputs: tuple[Pattern, ...]
    once: bool = False

    @property
    def size(self) -> int:
        """How many nodes the pattern names, constants among them: larger patterns are tried first."""
        return 1 + sum(p.size if isinstance(p, Apply) else p.constant is True for p in self.inputs)


Pattern = Variable | Apply


def op(kind: type[Op]) -> Callable[..., Apply]:
    """The op as a function over patterns."""
    return lambda *inputs: Apply(kind, inputs)


def once(pattern: Apply) -> Apply:
    """The same, of a node that nothing else reads."""
    return replace(pattern, once=True)


X, Y = Variable("x", constant=False), Variable("y", constant=False)
C, C1, C2 = (Variable(name, constant=True) for name in ("c", "c1", "c2"))
ANY = Variable("any")


class Rewriter(Protocol):
    """What rules may ask of the region that they rewrite, and what adds nodes to it."""

    context: Context
    no_match_above: dict[type[Op], set[Value]]

    def uses(self, value: Value) -> int: ...
    def add(self, op: Op, inputs: Sequence[Value | None], outputs: int = 1) -> list[Value]: ...
    def constant(self, value: np.ndarray | np.generic) -> Value: ...


class Match:
    """A match of a pattern: the node at its root, and the values that its names stand for."""

    __slots__ = ("node", "rewriter", "values")

    def __init__(self, node: Node, rewriter: Rewriter) -> None:
        self.node, self.rewriter = node, rewriter
        self.values: dict[str, Value] = {}

    def __getitem__(self, name: str) -> Value:
        return self.values[name]

    def type(self, name: str) -> TensorType:
        """The type of a value that a name stands for."""
        return tensor_type(self.values[name])

    def array(self, name: str) -> np.ndarray:
        """The elements of a constant."""
        constant = constant_of(self.values[name])
        assert constant is not None
        return as_array(constant.value)

    @property
    def result(self) -> Value:
        """What the root gives."""
        return self.node.outputs[0]

    @property
    def dtype(self) -> np.dtype:
        """The element type of what the root gives."""
        return tensor_type(self.node.outputs[0]).dtype

    def add(self, op: Op, *inputs: Value | None) -> Value:
        """A new node, simplified at once."""
        return self.rewriter.add(op, inputs)[0]

    def constant(self, value: np.ndarray | np.generic) -> Value:
        """A new constant."""
        return self.rewriter.constant(value)

    def build(self, pattern: Pattern) -> Value:
        """The value that a pattern over the match's names stands for; nodes are made innermost first."""
        if isinstance(pattern, Variable):
            return self.values[pattern.name]
        return self.add(pattern.op(), *[self.build(p) for p in pattern.inputs])


def tensor_type(value: Value | None) -> TensorType:
    """The type of a value, which a rule that asks knows to be a tensor."""
    assert value is not None and isinstance(value.type, TensorType)
    return value.type


def maker(value: Value | None) -> Node | None:
    """The node that makes a value; None for an argument of the region."""
    return value.owner if value is not None and isinstance(value.owner, Node) else None


Result = Callable[[Match], "Value | Sequence[Value] | None"]
Condition = Callable[[Match], bool]


class Rule(Struct, frozen=True):
    """Where `pattern` fits and every condition of `when` holds, `result` replaces its root."""

    name: str
    pattern: Apply
    result: Pattern | Result
    when: tuple[Condition, ...] = ()

    def apply(self, node: Node, rewriter: Rewriter) -> Sequence[Value] | None:
        """The values that replace the node's outputs; None where the rule does not apply."""
        match = Match(node, rewriter)
        if not fits_inputs(self.pattern, node, match) or not all(condition(match) for condition in self.when):
            return None
        if isinstance(self.result, (Variable, Apply)):
            return [match.build(self.result)]
        values = self.result(match)
        return [values] if isinstance(values, Value) else values


def fits(pattern: Pattern, value: Value | None, match: Match) -> bool:
    """Whether a value is what the pattern stands for; its names are bound on the way."""
    if value is None:
        return False
    if isinstance(pattern, Variable):
        if pattern.constant is not None and pattern.constant is not is_constant(value):
            return False
        return match.values.setdefault(pattern.name, value) is value
    owner = value.owner
    if not isinstance(owner, Node) or type(owner.op) is not pattern.op or value.index:
        return False
    if pattern.once and match.rewriter.uses(value) != 1:
        return False
    return fits_inputs(pattern, owner, match)


def fits_inputs(pattern: Apply, node: Node, match: Match) -> bool:
    """Whether the inputs of a node are what the pattern says of them."""
    if len(node.inputs) != len(pattern.inputs):
        return False
    return all(fits(p, value, match) for p, value in zip(pattern.inputs, node.inputs, strict=True))


def constant_of(value: Value | None) -> Constant | None:
    """The constant that a value is; None where it is computed at run time."""
    if value is not None and isinstance(value.owner, Node) and isinstance(value.owner.op, Constant):
        return value.owner.op
    return None


def is_constant(value: Value | None) -> bool:
    """Whether a value is fixed in the program."""
    return constant_of(value) is not None


class NodeRule(Struct, frozen=True):
    """A rule for nodes of some op classes (subclasses too) whose pattern is a matter of code."""

    name: str
    roots: tuple[type[Op], ...]
    result: Result

    def apply(self, node: Node, rewriter: Rewriter) -> Sequence[Value] | None:
        """As that of `Rule`."""
        values = self.result(Match(node, rewriter))
        return [values] if isinstance(values, Value) else values


AnyRule = Rule | NodeRule


class RuleSet:
    """Rules by the op class at their root, the largest pattern first, then in the order given."""

    def __init__(self, rules: Iterable[AnyRule], disabled: Iterable[str] = ()) -> None:
        without = frozenset(disabled)
        self.rules = tuple(rule for rule in rules if rule.name not in without)
        self._by_op: dict[type[Op], list[AnyRule]] = {}

    def __getitem__(self, op: Op) -> Sequence[AnyRule]:
        rules = self._by_op.get(type(op))
        if rules is None:
            rules = [rule for rule in self.rules if _is_for(rule, type(op))]
            rules.sort(key=lambda rule: -rule.pattern.size if isinstance(rule, Rule) else 0)
            self._by_op[type(op)] = rules
        return rules


def _is_for(rule: AnyRule, kind: type[Op]) -> bool:
    return rule.pattern.op is kind if isinstance(rule, Rule) else issubclass(kind, rule.roots)
