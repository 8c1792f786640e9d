"""A graph program of which several cores share parts: the memory that each of them then has for itself."""

from __future__ import annotations

from msgspec.structs import replace

from whorl.kernel.spread import RANGES, spread
from whorl.lowering.arena_planning import plan_arena
from whorl.lowering.graph_program import GraphProgram


def spread_graph(graph: GraphProgram) -> GraphProgram:
    """Mark what several cores may share, in the program itself; the graph program with the memory that this takes."""
    larger = spread(graph.program)
    if not larger:
        return graph
    shapes = dict(graph.shapes)
    for old, new in larger.items():
        if old in shapes:
            shapes[new] = (RANGES, *shapes.pop(old))
    return replace(graph, shapes=shapes, arena=plan_arena(graph.program, shapes))
