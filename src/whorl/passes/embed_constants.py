"""Embeds constants in the regions that read them: each one that a region captures becomes a node of the region.

Regions are closed, so a captured weight is an argument, of which nobody knows at compile time that it is the same in
every iteration; as a node it can be laid out for products once, and folded. The array is shared, not copied; what is
read from a file when it is needed would be read for each region, and remains captured. A file would hold a constant
once for each region, so this is for modules that run and not for those that are written.
"""

from __future__ import annotations

import numpy as np

from whorl.ir.constants import Constant
from whorl.ir.graph import Module, Node, Region
from whorl.ops.control.flow import first_captured
from whorl.passes.dce import remove_unused_nodes
from whorl.passes.push_constants import replace_arguments
from whorl.passes.rules.pattern import constant_of


def embed_constants(module: Module) -> None:
    """Replace captured constants by nodes in all regions, outer ones first."""
    _embed(module.main)


def _embed(region: Region) -> None:
    for node in region.nodes:
        if node.regions:
            _take_constants(node)
            for inner in node.regions:
                _embed(inner)
                remove_unused_nodes(inner, lambda node: isinstance(node.op, Constant))


def _take_constants(node: Node) -> None:
    """Put constants in the place of the arguments that capture them."""
    first = first_captured(node)
    operands = {k: constant_of(node.inputs[k]) for k in range(first, len(node.inputs))}
    constants = {k: op for k, op in operands.items() if op is not None and isinstance(op.value, np.ndarray)}
    if not constants:
        return
    count = len(node.inputs)
    for region in node.regions:
        replace_arguments(region, {len(region.arguments) - count + k: op for k, op in constants.items()})
    node.inputs = [value for k, value in enumerate(node.inputs) if k not in constants]
