"""Nodes of small constants, computed once: what a session folds while it loads a model.

A result may be little larger than its operands: constants lie in memory as long as the session, where no limit of a run
counts them. A node that fails stays, to fail when it runs.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from whorl.ir.constants import Constant
from whorl.ir.dtypes import is_integer
from whorl.ir.graph import Module, Node, Region, Value, as_values
from whorl.passes.context import Context
from whorl.passes.dce import remove_unused_nodes
from whorl.passes.fold_constants import FAILURES, result_bytes
from whorl.passes.rules.conditions import size_in_bytes
from whorl.passes.rules.pattern import constant_of

SMALL = 1 << 20
"""Bytes of operands, and of results, up to which a node is computed."""
GROWTH = 256
"""Bytes by which a result may be larger than the operands."""


def fold_small(module: Module, context: Context) -> None:
    """Fold what small constants alone decide, in every region. Unlike `fold_constants` it computes nothing large."""
    _fold(module.main, context)


def _fold(region: Region, context: Context) -> bool:
    """Fold in a region and those inside; whether inference knows more of a value than before.

    A constant takes over the values of the node that it replaces: most are known already, and nothing is inferred anew.
    """
    changed: set[Value | None] = set()
    old, region.nodes = region.nodes, []
    has_folded = False
    for node in old:
        if changed and not changed.isdisjoint(node.inputs):
            changed.update(_infer(node, context))
        results = _results(node) if _is_candidate(node) else None
        if results is not None and context.may_edit("fold_small"):
            has_folded = True
            region.nodes += _constants(node, results, changed)
            continue
        if any([_fold(inner, context) for inner in node.regions]):
            changed.update(_infer(node, context))
        region.nodes.append(node)
    if has_folded:
        remove_unused_nodes(region, lambda node: isinstance(node.op, Constant))
    return bool(changed)


def _infer(node: Node, context: Context) -> list[Value]:
    """Infer a node anew; those of its outputs of which more is known now."""
    before = [(value.type, value.known is None) for value in node.outputs]
    context.inference.visited.clear()
    context.inference.node(node)
    pairs = zip(node.outputs, before, strict=True)
    return [value for value, known in pairs if (value.type, value.known is None) != known]


def _constants(node: Node, results: Sequence[np.ndarray], changed: set[Value | None]) -> list[Node]:
    """A constant for each output of a node."""
    nodes: list[Node] = []
    for value, result in zip(node.outputs, results, strict=False):
        op = Constant(result)
        constant = Node(op, (), (), value.name)
        constant.outputs, value.owner, value.index = [value], constant, 0
        nodes.append(constant)
        (known,) = op.infer_known()
        if value.type != op.infer() or (value.known is None and known is not None and is_integer(result.dtype)):
            changed.add(value)
        value.type, value.known = op.infer(), known
    return nodes


def _is_candidate(node: Node) -> bool:
    """Whether all operands of a node are small constants in its own region."""
    if not node.inputs or node.regions or not node.op.pure:
        return False
    for value in node.inputs:
        if value is not None and (type(value.owner) is not Node or not isinstance(value.owner.op, Constant)):
            return False
    return True


def _results(node: Node) -> list[np.ndarray] | None:
    """The outputs of a node of constants; None where one is large or no tensor, or where it fails."""
    operands = [constant_of(value) for value in node.inputs]
    arrays = [None if op is None else op.value for op in operands]
    sizes = [x.nbytes for x in arrays if isinstance(x, np.ndarray)]
    if len(sizes) < sum(op is not None for op in operands) or max(sizes) > SMALL:
        return None
    most = min(SMALL, GROWTH + sum(sizes))
    made = [size_in_bytes(value.type) for value in node.outputs]
    if sum(size or 0 for size in made) > most:
        return None
    try:
        with np.errstate(all="ignore"):
            if None in made and result_bytes(node.op, arrays) > most:
                return None
            results = as_values(node.op.run(*arrays))
    except FAILURES:
        return None
    return [*results] if all(isinstance(x, np.ndarray) and x.nbytes <= most for x in results) else None
