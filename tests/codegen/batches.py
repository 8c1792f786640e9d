"""Many elementwise ops in one compiled Loop, each compared with what `op.run` gives."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from whorl.ir.build import Builder
from whorl.ir.graph import Node, Op, Region, Value, as_values
from whorl.ir.infer import Inference
from whorl.ir.types import Known, TensorType
from whorl.lowering.graphs import lower_graph
from whorl.ops.control.flow import Collected, Loop, Scanned
from whorl.runtime.compiled.compile_graph import compile_graph

FRACTION_BITS = {"float16": 10, "bfloat16": 7, "float32": 23, "float64": 52}
LEAST_EXPONENT = {"float16": -14, "bfloat16": -126, "float32": -126, "float64": -1022}


@dataclass(frozen=True)
class Case:
    """An op on arrays of one length, or on numbers that are fixed in the code. `ulps` 0 is bit for bit.

    `loose_zero`: either zero will do. `slack`: what may be wrong besides, as a part of the largest input.
    """

    op: Op
    inputs: Sequence[np.ndarray]
    ulps: float = 0
    loose_zero: bool = False
    slack: float = 0

    def __str__(self) -> str:
        return f"{self.op} of {', '.join(f'{x.dtype}{list(x.shape)}' for x in self.inputs)}"


@dataclass
class Batch:
    """A Loop whose every iteration takes the next `length` elements of all arrays; numbers are constants."""

    length: int
    main: Region = field(default_factory=Region)
    body: Region = field(default_factory=Region)
    inference: Inference = field(default_factory=Inference)
    rows: list[np.ndarray] = field(default_factory=list)
    slices: dict[int, Value] = field(default_factory=dict)
    constants: list[tuple[np.ndarray, Value, Value]] = field(default_factory=list)

    def passed(self, array: np.ndarray) -> Value:
        if array.ndim == 0:
            value = Builder(self.main, self.inference).constant(array)
            self.constants.append((array, value, Value("c", value.type, self.body, 0, value.known)))
            return self.constants[-1][2]
        if id(array) not in self.slices:
            self.rows.append(array.reshape(-1, self.length))
            self.slices[id(array)] = Value("x", TensorType(array.dtype, (self.length,)), self.body, 0)
        return self.slices[id(array)]

    def run(self, cases: Sequence[Case]) -> list[np.ndarray] | None:
        """What the cases give by machine code; None where it fails."""
        build = Builder(self.body, self.inference)
        results = [build.add(case.op, *(self.passed(x) for x in case.inputs)) for case in cases]
        kinds = (np.dtype(np.int64), np.dtype(bool))
        head = [Value("h", TensorType(kind, ()), self.body, 0) for kind in kinds]
        self.body.arguments = [*head, *self.slices.values(), *(copy for _, _, copy in self.constants)]
        for index, argument in enumerate(self.body.arguments):
            argument.index = index
        self.body.results = [head[1], *results]
        op = Loop(0, (Scanned(),) * len(self.rows), (Collected(),) * len(results))
        scanned = [self.main.add_argument("x", TensorType(x.dtype, x.shape)) for x in self.rows]
        inputs = [None, None, *scanned, *(outer for _, outer, _ in self.constants)]
        names = [f"y{n}" for n in range(len(results))]
        Builder(self.main, self.inference).add_many(op, inputs, names, regions=[self.body])
        node: Node = self.main.nodes[-1]
        self.main.results = [*node.outputs]
        launch = compile_graph(lower_graph(self.main, [Known(v.type) for v in self.main.arguments]))
        calls = {call.op.name for call in launch.graph.program.calls}
        assert not calls, f"{', '.join(calls)} have no native form"
        return launch.bind({}).run([self.rows[n] for n in launch.graph.inputs])


def check(cases: Sequence[Case], length: int) -> None:
    """Every case gives what `op.run` gives."""
    results = Batch(length).run(cases)
    assert results is not None
    problems = [problem for case, y in zip(cases, results, strict=True) if (problem := difference(case, y))]
    assert not problems, "\n" + "\n".join(problems)


def fails(case: Case, length: int) -> bool:
    """Whether native code ends with a failure."""
    return Batch(length).run([case]) is None


def difference(case: Case, actual: np.ndarray) -> str:
    """What is wrong with the elements found, or nothing."""
    with np.errstate(all="ignore"):
        expected = as_values(case.op.run(*case.inputs))[0]
        actual = actual.reshape(expected.shape)
        if actual.dtype != expected.dtype:
            return f"{case}: is {actual.dtype}, expected {expected.dtype}"
        wrong = np.flatnonzero(~agree(case, actual, expected))
    if not wrong.size:
        return ""
    first = wrong[np.argsort(np.abs(wrong - 0))][:4]
    shown = [
        f"{[str(x if x.ndim == 0 else x[k]) for x in case.inputs]} gave {actual[k]}, expected {expected[k]}"
        for k in first
    ]
    return f"{case}: {len(wrong)} wrong: {'; '.join(shown)}"


def agree(case: Case, actual: np.ndarray, expected: np.ndarray) -> np.ndarray:
    """Where two results are the same to the case's tolerance; any NaN is NaN."""
    name = str(actual.dtype)
    if name not in FRACTION_BITS:
        gap = actual.astype(np.float64) - expected.astype(np.float64)
        return (actual == expected) | (np.abs(gap) <= (1 if case.ulps else 0))
    nan = np.isnan(actual) & np.isnan(expected)
    same = (actual == expected) & (case.loose_zero | (np.signbit(actual) == np.signbit(expected)))
    if not case.ulps:
        return same | nan
    a, b = actual.astype(np.longdouble), expected.astype(np.longdouble)
    exponent = np.maximum(np.frexp(b)[1] - 1, LEAST_EXPONENT[name])
    unit = np.ldexp(np.longdouble(1), exponent - FRACTION_BITS[name])
    sizes = [np.abs(np.where(np.isfinite(x), x, 0).astype(np.longdouble)) for x in case.inputs]
    largest = functools.reduce(np.maximum, sizes)
    return nan | (actual == expected) | (np.abs(a - b) <= case.ulps * unit + case.slack * largest)
