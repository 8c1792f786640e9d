"""Ops on inputs of many lengths: one program for all of them, which leaves nothing to `run`, gives what `run` gives."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from written_out import Arrays, check_equal

from whorl.ir.build import Builder
from whorl.ir.dims import UNKNOWN
from whorl.ir.graph import Op, Region
from whorl.ir.infer import Inference
from whorl.ir.types import TensorType
from whorl.lowering.graphs import lower_graph
from whorl.runtime.compiled.binding import Binder
from whorl.runtime.compiled.compile_graph import compile_graph

LENGTHS = (2, 3, 7, 100)
"""Lengths that one program takes."""


class OneProgram:
    """The program of an op for inputs like some arrays, whose lengths from two on it takes as they come.

    Inputs at `constants`, where there are any, are the same in all runs.
    """

    def __init__(self, op: Op, arrays: Arrays, outputs: int = 1, constants: Sequence[int] = ()) -> None:
        self.op, region = op, Region()
        build = Builder(region, Inference())
        self.inputs = [n for n, x in enumerate(arrays) if x is not None and n not in constants]
        values: list[Any] = []
        for n, x in enumerate(arrays):
            if x is None or n in constants:
                values.append(None if x is None else build.constant(x))
                continue
            values.append(region.add_argument(f"x{n}", TensorType(x.dtype, (UNKNOWN,) * x.ndim)))
        region.results = build.add_many(op, values, [f"y{n}" for n in range(outputs)])
        self.binder = Binder([v.type for v in region.arguments])  # type: ignore[misc]
        own = [arrays[n] for n in self.inputs]
        binding = self.binder.bind(own)  # type: ignore[arg-type]
        self.shapes = binding.shapes
        facts = binding.facts([x.dtype for x in own])  # type: ignore[union-attr]
        self.launch = compile_graph(lower_graph(region, facts, takes_lengths=True))
        assert [call.op.name for call in self.launch.graph.program.calls] == []

    def run(self, arrays: Arrays) -> list[np.ndarray] | None:
        """What the program gives; None where it fails."""
        own: list[Any] = [arrays[n] for n in self.inputs]
        binding = self.binder.bind(own)
        assert binding.shapes == self.shapes, "the lengths are of another pattern"
        bound = self.launch.bind(binding.lengths)
        return bound.run([np.ascontiguousarray(own[n]) for n in self.launch.graph.inputs])


def check_one_program(
    op: Op, cases: Iterable[Arrays], outputs: int = 1, tolerance: float = 0, constants: Sequence[int] = ()
) -> None:
    """All cases, whose lengths are of one pattern, have one program, which gives what `run` gives."""
    cases = list(cases)
    program = OneProgram(op, cases[0], outputs, constants)
    for arrays in cases:
        assert all(np.array_equal(arrays[n], cases[0][n]) for n in constants if arrays[n] is not None)
        with np.errstate(all="ignore"):
            check_equal(op, arrays, program.run(arrays), tolerance)


def check_patterns(
    op: Op,
    make: Callable[..., Arrays],
    axes: int,
    outputs: int = 1,
    tolerance: float = 0,
    constants: Sequence[int] = (),
) -> None:
    """Inputs that `make` gives for the lengths of some axes, each axis 0, 1 or one of LENGTHS: a program a pattern."""
    for pattern in np.ndindex(*(3,) * axes):
        lengths = [[n + shift if kind == 2 else kind for shift, kind in enumerate(pattern)] for n in LENGTHS]
        cases = [make(*row) for row in (lengths if 2 in pattern else lengths[:1])]
        check_one_program(op, cases, outputs, tolerance, constants)
