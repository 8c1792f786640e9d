"""Branches that are known before a run: an If that constants or the lengths of inputs decide is the branch it takes.

The other branch leaves nothing behind, so that values after the If have the types of the branch that is taken, whatever
the rank in the other one. Of an If that only the run decides, a branch that surely fails leaves its failure, and what
follows two ranks goes on inside.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

import numpy as np

from whorl.ir.graph import Node, Op, Region, Value, walk
from whorl.ir.infer import Inference, names_of
from whorl.ir.native.builder import NativeBuilder
from whorl.ir.native.view import Operands, View
from whorl.ir.types import Fact, TensorType, Type
from whorl.lowering.continuations import Continuations
from whorl.lowering.ill_typed import cut_short
from whorl.ops.control.flow import If, known_bool
from whorl.passes.totality import Totality


def simplify_branches(
    region: Region, inference: Inference, continuations: Continuations, takes_known: bool = True
) -> bool:
    """Do what can be done about the Ifs of a region, which then is to be typed again; whether there was anything.

    `takes_known`: what constants decide is left out, too.
    """
    answers = known_answers(region) if takes_known else {}
    answers |= {node: answer for node, (_, answer) in inference.decisions.items()}
    if answers:
        take_branches(region, answers, continuations.origins)
        return True
    return continuations.move(region) or cut_short(region, inference.ill_typed)


def known_answers(region: Region) -> dict[Node, bool]:
    """The Ifs, inner ones too, whose condition inference knows, each with that."""
    nodes = [node for node in walk(region) if isinstance(node.op, If) and node.inputs[0] is not None]
    pairs = [(node, known_bool(value)) for node in nodes if (value := node.inputs[0]) is not None]
    return {node: answer for node, answer in pairs if answer is not None}


def take_branches(region: Region, answers: Mapping[Node, bool], origins: dict[Value, Node]) -> None:
    """Put the branch that is taken in the place of each If with an answer, inner ones too.

    Of values in `origins`, which says what nodes they were made by, the nodes of a branch inherit that of the If.
    """
    values: dict[Value, Value] = {}
    taken: list[Node] = []
    waiting = region.nodes[::-1]
    while waiting:
        node = waiting.pop()
        node.inputs = [None if value is None else _current(value, values) for value in node.inputs]
        if node not in answers:
            for inner in node.regions:
                take_branches(inner, answers, {})
            taken.append(node)
            continue
        branch = node.regions[0 if answers[node] else 1]
        used = branch.used_values()
        pairs = [(a, v) for a, v in zip(branch.arguments, node.inputs[1:], strict=True) if v is not None]
        values.update(pairs)
        checks = Checks([value for argument, value in pairs if argument not in used])
        after = [checks.behind(value) for value in branch.results] if checks.values else []
        values.update(zip(node.outputs, [each.outputs[0] for each in after] or branch.results, strict=True))
        waiting += [*after[::-1], *branch.nodes[::-1]]
        if node.outputs and (origin := origins.get(node.outputs[0])) is not None:
            origins.update((value, origin) for inner in branch.nodes for value in inner.outputs)
    region.nodes = taken
    region.results = [_current(value, values) for value in region.results]


class After(Op, frozen=True):
    """The first input, once the nodes of the others have not failed: a branch that is not taken would read them."""

    abstract: ClassVar[bool] = True
    any_length = True

    def infer(self, x: Fact, *others: Fact) -> Type:
        return x.type

    def infer_known(self, x: Fact, *others: Fact) -> tuple[np.ndarray | None, ...]:
        return (x.known,)

    def run(self, x: object, *others: object) -> object:
        return x

    def lower(self, k: NativeBuilder, inputs: Operands, outputs: Sequence[TensorType]) -> Sequence[View]:
        return [inputs[0]]


class Checks:
    """The `values` whose nodes may fail, among some and those that they are computed from."""

    def __init__(self, values: Sequence[Value]) -> None:
        self.values: list[Value] = []
        totality, waiting = Totality(), list(values)
        seen: set[Value] = set()
        while waiting:
            value = waiting.pop()
            if value in seen or not isinstance(value.owner, Node):
                continue
            seen.add(value)
            if _cannot_fail(value.owner, totality):
                waiting += [each for each in value.owner.inputs if each is not None]
            else:
                self.values.append(value)

    def behind(self, value: Value) -> Node:
        """A node that gives a value after the checks."""
        node = Node(After(), [value, *self.values])
        node.outputs = [Value(value.name, value.type, node, 0, value.known)]
        return node


def _cannot_fail(node: Node, totality: Totality) -> bool:
    """Whether a node surely gives results, also where it broadcasts lengths that only the run knows."""
    if all(value.known is not None for value in node.outputs) or totality.is_total(node):
        return True
    depends_on_types = type(node.op).is_total is Op.is_total and node.op.never_fails
    return depends_on_types and names_of(node.outputs) <= names_of(node.inputs)


def _current(value: Value, values: Mapping[Value, Value]) -> Value:
    """What a value of an If, or of a branch, is in the region around it."""
    while value in values:
        value = values[value]
    return value
