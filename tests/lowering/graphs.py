"""Regions lowered to kernel programs, interpreted, and compared with the interpreter of modules."""

from __future__ import annotations

from typing import Any

import numpy as np

from whorl.ir.parse import parse_module
from whorl.ir.types import Known, TensorType
from whorl.kernel.interpret import interpret
from whorl.kernel.verify import verify_program
from whorl.lowering.graphs import GraphProgram, lower_graph
from whorl.runtime.session import Session


def lowered(text: str, feeds: dict[str, np.ndarray], known: tuple[str, ...] = (), **options: Any) -> GraphProgram:
    facts = [
        Known(TensorType(x.dtype, x.shape), x.astype(object) if name in known else None) for name, x in feeds.items()
    ]
    graph = lower_graph(parse_module(text).main, facts, **options)
    verify_program(graph.program)
    return graph


def interpreted(graph: GraphProgram, feeds: dict[str, np.ndarray]) -> list[np.ndarray]:
    """What a program of outputs with known shapes gives by the interpreter of programs."""
    values = list(feeds.values())
    outputs = [np.empty(t.shape, t.dtype) for t in graph.outputs]
    arrays = [*(values[n].copy() for n in graph.inputs), *graph.arrays, *outputs]
    outcome = interpret(graph.program, [], arrays)
    assert outcome.status == 0
    return outcome.arrays[len(arrays) - len(outputs) :]


def check(text: str, feeds: dict[str, np.ndarray], known: tuple[str, ...] = ()) -> GraphProgram:
    graph = lowered(text, feeds, known)
    expected = Session(parse_module(text), backend="interpreter").execute(None, feeds)
    for e, f in zip(expected, interpreted(graph, feeds), strict=True):
        np.testing.assert_array_equal(f, e)
    return graph
