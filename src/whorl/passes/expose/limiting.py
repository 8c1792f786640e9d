"""Less of a model: only its first nodes, fewer iterations of a loop."""

from __future__ import annotations

import numpy as np
from msgspec.structs import replace

from whorl.ir.graph import Module, Node, Region
from whorl.ops.elementwise.arithmetic import Min
from whorl.passes.expose.adding import add, constant, flat


def keep_first_nodes(module: Module, count: int) -> Module:
    """The first nodes of the main region, with what the last of them gives as outputs."""
    main = module.main
    main.nodes = main.nodes[:count]
    main.results = list(main.nodes[-1].outputs)
    return replace(module, output_names=[f"output_{k}" for k in range(len(main.results))], declared={}, states=[])


def limit_iterations(region: Region, node: Node, count: int) -> None:
    """Let a loop of a region make no more than so many iterations."""
    trip = node.inputs[0]
    limit = constant(region, np.array([count], np.int64))
    if trip is None:
        node.inputs[0] = limit
        return
    node.inputs[0] = add(region, Min(), flat(region, trip), limit)
    region.nodes.remove(node)
    region.nodes.append(node)
