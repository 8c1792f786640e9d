"""Ops that are written out as simpler nodes: the nodes interpreted and compiled, against what `run` says."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from whorl.ir.build import Builder
from whorl.ir.graph import Op, Region, as_values
from whorl.ir.infer import Inference
from whorl.ir.types import Known, TensorType
from whorl.lowering.decomposition import decompose
from whorl.lowering.graphs import lower_graph
from whorl.runtime.compiled.compile_graph import compile_graph
from whorl.runtime.interpreter.plan import Plan
from whorl.runtime.interpreter.step import Run
from whorl.runtime.limits import Budget, Limits

Arrays = Sequence["np.ndarray | None"]


def region_of(op: Op, arrays: Arrays, outputs: int) -> Region:
    """A region that is the op on arguments."""
    region = Region()
    build = Builder(region, Inference())
    values = [
        None if x is None else region.add_argument(f"x{n}", TensorType(x.dtype, x.shape)) for n, x in enumerate(arrays)
    ]
    region.results = build.add_many(op, values, [f"y{n}" for n in range(outputs)])
    return region


def interpreted(op: Op, arrays: Arrays, outputs: int = 1) -> list[Any]:
    """What the nodes that stand for the op give, interpreted."""
    region = region_of(op, arrays, outputs)
    decompose(region)
    assert not any(type(node.op) is type(op) for node in region.nodes)
    with np.errstate(all="ignore"):
        return Plan(region)(Run(Budget(Limits(), lambda: False)), *(x for x in arrays if x is not None))


def compiled(op: Op, arrays: Arrays, outputs: int = 1) -> list[np.ndarray] | None:
    """What machine code gives, without a call of `run`; None where it fails."""
    region = region_of(op, arrays, outputs)
    launch = compile_graph(lower_graph(region, [Known(v.type) for v in region.arguments])).bind({})
    assert not launch.graph.program.calls
    passed = [x for x in arrays if x is not None]
    return launch.run([np.ascontiguousarray(passed[n]) for n in launch.graph.inputs])


def check_equal(op: Op, arrays: Arrays, actual: Sequence[np.ndarray] | None, tolerance: float = 0) -> None:
    """Compare with the results of `run`: to the bit, or within an absolute or relative difference."""
    assert actual is not None
    for want, got in zip(as_values(op.run(*arrays)), actual, strict=False):
        assert (got.dtype, got.shape) == (want.dtype, want.shape)
        np.testing.assert_allclose(got.astype(np.float64), want.astype(np.float64), rtol=tolerance, atol=tolerance)


def check_written_out(op: Op, arrays: Arrays, outputs: int = 1, tolerance: float = 0) -> None:
    """The nodes mean what the op means, interpreted and compiled."""
    check_equal(op, arrays, interpreted(op, arrays, outputs), tolerance)
    check_equal(op, arrays, compiled(op, arrays, outputs), tolerance)
