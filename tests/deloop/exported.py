"""Models that an exporter wrote, with their loops and without."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from exports.harness import Export, Feeds, compare, lie_as, run_by_onnxruntime
from onnx import ModelProto

import whorl
from whorl.formats.onnx.saving import to_proto
from whorl.ir.graph import Module
from whorl.ir.infer import names_of
from whorl.ops.control.flow import If, Loop

ROOM = 4
"""How much more a matrix product, or another op in the place of a loop, may round than the loop."""


def check_without_loops(export: Export, *ops: str, **options: Any) -> None:
    """The model has loops or branches. Without them dims stay open, whorl agrees with the framework, and onnxruntime
    with itself: it has errors of its own.

    `ops`: names of ops that take the place of a loop.
    """
    before = whorl.load(export.model)
    assert has_control_flow(before)
    after = whorl.deloop(before, **options)
    assert not has_control_flow(after)
    assert names_of(after.main.arguments) == names_of(before.main.arguments), "dims stay open"
    assert {*ops} <= {node.op.name for node in after.nodes()}
    session, with_loop, without = whorl.InferenceSession(after), theirs(export.model), theirs(to_proto(after))
    for position, shape in enumerate(export.shapes):
        feeds = export.draw(shape, np.random.default_rng([0, position]))
        expected, actual = export.expect(feeds), session.run(None, dict(feeds))
        if export.rows_lie_anyhow:
            expected = [lie_as(e, a) for e, a in zip(expected, actual, strict=True)]
        compare(expected, actual, ROOM * export.amplification, f"whorl, shape {shape}")
        compare(with_loop(feeds), without(feeds), ROOM * export.amplification, f"onnxruntime, shape {shape}")


def theirs(model: ModelProto | Path) -> Callable[[Feeds], Sequence[Any]]:
    assert isinstance(model, ModelProto)
    return run_by_onnxruntime(model)


def has_control_flow(module: Module) -> bool:
    return any(isinstance(node.op, If | Loop) for node in module.nodes())
