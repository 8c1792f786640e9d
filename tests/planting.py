"""Faults planted in copies of models: one value is wrong in one iteration."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from whorl.api.tracing.recording import copy_module
from whorl.ir.constants import Constant
from whorl.ir.graph import Module, Node
from whorl.ir.types import tensor
from whorl.ops.elementwise.arithmetic import Add
from whorl.ops.elementwise.casting import Cast
from whorl.ops.elementwise.comparison import Equal
from whorl.ops.elementwise.logic import And, Xor
from whorl.passes.expose.adding import Captures, add, retype
from whorl.passes.expose.scopes import scopes_of, values_in


def plant(module: Module, path: str, at: Sequence[int]) -> tuple[Module, str]:
    """A copy in which a value is one more, or the opposite, in one iteration of the loops around; its node's title."""
    copy = copy_module(module)
    scope, value = next((s, each.value) for s in scopes_of(copy) for each in values_in(s) if each.path == path)
    node, region, captures = value.owner, scope.region, Captures()
    assert isinstance(node, Node)
    title, position, before = node.title, region.nodes.index(node) + 1, len(region.nodes)
    flag = add(region, Constant(np.array(True)))
    for loop, number in zip(scope.loops, at, strict=True):
        iteration = captures.bring(scope, loop.region.arguments[0], loop)
        flag = add(region, And(), flag, add(region, Equal(), iteration, add(region, Constant(np.array(number)))))
    dtype = tensor(value).dtype
    if dtype == np.bool_:
        wrong = add(region, Xor(), value, flag)
    else:
        wrong = add(region, Add(), value, add(region, Cast(to=dtype), flag))
    wrong.name, value.name = value.name, "correct"
    node.name = node.name or wrong.name
    added = region.nodes[before:]
    region.nodes = [*region.nodes[:position], *added, *region.nodes[position:before]]
    for other in region.nodes[position + len(added) :]:
        other.inputs = [wrong if each is value else each for each in other.inputs]
    region.results = [wrong if each is value else each for each in region.results]
    retype(copy)
    return copy, title
