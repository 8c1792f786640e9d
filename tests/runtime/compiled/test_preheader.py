"""The preheader of a native loop: loop-invariant nodes run once, their constants once for all runs."""

from __future__ import annotations

import numpy as np

from whorl.ir.build import Builder
from whorl.ir.dtypes import FLOAT32
from whorl.ir.graph import Region
from whorl.ir.infer import Inference
from whorl.ir.types import TensorType
from whorl.ops.elementwise.arithmetic import Neg
from whorl.runtime.compiled.preheader import LoopPreheader, Workspace
from whorl.runtime.limits import UNLIMITED

X = np.ones(3, np.float32)


def negation(is_constant: bool) -> LoopPreheader:
    region = Region("body")
    x = region.add_argument("x", TensorType(FLOAT32, (3,)))
    y = Builder(region, Inference()).add(Neg(), x)
    return LoopPreheader(region.nodes, [x], [y], [], [], {x: X} if is_constant else {})


def test_results_follow_from_what_is_captured() -> None:
    preheader = negation(is_constant=False)
    for captured in (X, 2 * X):
        scanned, (y,) = preheader.run([], [captured], 5, Workspace(), UNLIMITED)
        assert (scanned, y.tolist()) == ([], (-captured).tolist())
    assert not preheader.constants


def test_results_of_constants_are_computed_once() -> None:
    preheader = negation(is_constant=True)
    (first,), (second,) = (preheader.run([], [X], 5, Workspace(), UNLIMITED)[1] for _ in range(2))
    assert first is second


def test_workspace_gives_the_same_memory_for_the_same_shape() -> None:
    workspace = Workspace()
    first = workspace.array("rows", (2, 3), FLOAT32)
    assert workspace.array("rows", (2, 3), FLOAT32) is first
    assert workspace.array("rows", (4, 3), FLOAT32).shape == (4, 3)
    assert workspace.size == 48
