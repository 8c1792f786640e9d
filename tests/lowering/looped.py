"""Ops inside one native Loop: the kernel program is verified and interpreted, its machine code run, and both compared.

Each iteration gives every op other inputs. An input comes as a slice of a scanned tensor, as a carried tensor, out of a
transposition, or out of arithmetic that costs too much to be repeated: how an op reads it must not matter.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from whorl.errors import RunError
from whorl.ir.build import Builder
from whorl.ir.dtypes import BOOL, BY_NAME, is_float
from whorl.ir.graph import Op, Region, Value, as_values
from whorl.ir.infer import Inference
from whorl.ir.types import Known, TensorType
from whorl.kernel.interpret import interpret
from whorl.kernel.verify import verify_program
from whorl.lowering.graphs import lower_graph
from whorl.ops.control.flow import Collected, Loop, Scanned
from whorl.ops.elementwise.arithmetic import Identity, Neg
from whorl.ops.elementwise.comparison import Where
from whorl.ops.movement.axes import Transpose
from whorl.runtime.compiled.compile_graph import compile_graph
from whorl.runtime.compiled.launch import Launch

STEPS = 3
BATCH = 8
"""Cases in one loop: LLVM takes longer for two nests in one function than in two."""
KINDS = ("scanned", "carried", "transposed", "costly")
NARROW_ULPS = 2
"""Units in the last place of a narrow float that may differ where sums, kept wider, may."""
Inputs = Sequence["np.ndarray | None"]


Step = tuple[Op, tuple[int, ...]]
"""An op and where its inputs stand among the inputs of a case and the first results of the steps before."""


@dataclass
class Case:
    """An op and its inputs: one list for each iteration, those at `constants` the same in all and known in advance.

    Several ops, one after the other, are given as `steps`; the outputs are those of the last.
    """

    op: Op
    make: Callable[[np.random.Generator], Inputs]
    constants: tuple[int, ...] = ()
    outputs: int = 1
    ulps: float = 0
    native: bool = True
    """Whether the op must have a native form here."""
    steps: Sequence[Step] = ()
    rows: list[Inputs] = field(default_factory=list)

    def draw(self, rng: np.random.Generator) -> None:
        first = [None if x is None else np.asarray(x) for x in self.make(rng)]
        self.rows = [first]
        for _ in range(STEPS - 1):
            pairs = enumerate(zip(first, self.make(rng), strict=True))
            self.rows.append([a if k in self.constants or b is None else np.asarray(b) for k, (a, b) in pairs])
        self.steps = self.steps or [(self.op, tuple(range(len(first))))]

    def expected(self, step: int) -> tuple[Any, ...]:
        values, results = list(self.rows[step]), ()
        with np.errstate(all="ignore"):
            for op, positions in self.steps:
                results = as_values(op.run(*(values[k] for k in positions)))
                values.append(results[0])
        return results[: self.outputs]

    @property
    def names(self) -> set[str]:
        return {op.name for op, _ in self.steps}

    def __str__(self) -> str:
        shapes = ", ".join("-" if x is None else f"{x.dtype}{list(x.shape)}" for x in self.rows[0])
        return f"{' '.join(f'{op}{positions}' for op, positions in self.steps)}({shapes})"


@dataclass
class Looped:
    """A Loop around the cases, being built."""

    rng: np.random.Generator
    main: Region = field(default_factory=Region)
    body: Region = field(default_factory=Region)
    inference: Inference = field(default_factory=Inference)
    scanned: list[np.ndarray] = field(default_factory=list)
    carried: list[tuple[np.ndarray, Value]] = field(default_factory=list)
    states: list[Value] = field(default_factory=list)
    slices: list[Value] = field(default_factory=list)
    captured: list[tuple[np.ndarray, Value, Value]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.build = Builder(self.body, self.inference)
        self.outer = Builder(self.main, self.inference)

    def slice_of(self, rows: Sequence[np.ndarray]) -> Value:
        self.scanned.append(np.stack(rows))
        value = Value("x", TensorType(rows[0].dtype, rows[0].shape), self.body, 0)
        self.slices.append(value)
        return value

    def constant(self, array: np.ndarray) -> Value:
        value = self.outer.constant(array)
        copy = Value("c", value.type, self.body, 0, value.known)
        self.captured.append((array, value, copy))
        return copy

    def passed(self, rows: Sequence[np.ndarray], kind: str) -> Value:
        """A value of the body that has the rows' elements, one row an iteration."""
        if kind == "carried":
            state = Value("s", TensorType(rows[0].dtype, rows[0].shape), self.body, 0)
            self.states.append(state)
            self.carried.append((rows[0], self.build.add(Identity(), self.slice_of([*rows[1:], rows[0]]))))
            return state
        if kind == "transposed":
            return self.build.add(Transpose(), self.slice_of([np.array(row.T, order="C") for row in rows]))
        value = self.slice_of(rows)
        if kind == "costly" and (rows[0].dtype.kind == "i" or is_float(rows[0].dtype)):
            for _ in range(6):
                value = self.build.add(Neg(), value)
        elif kind == "costly":
            other = self.slice_of([np.ones(row.shape, bool) for row in rows])
            for _ in range(6):
                value = self.build.add(Where(), other, value, value)
        return value

    def add(self, case: Case) -> list[Value]:
        inputs: list[Value | None] = []
        for k, x in enumerate(case.rows[0]):
            if x is None:
                inputs.append(None)
            elif k in case.constants:
                inputs.append(self.constant(x))
            else:
                kind = KINDS[self.rng.integers(len(KINDS))]
                inputs.append(self.passed([row[k] for row in case.rows], kind))  # type: ignore[misc]
        results: list[Value] = []
        for op, positions in case.steps:
            count = case.outputs if (op, positions) == case.steps[-1] else 1
            results = self.build.add_many(op, [inputs[k] for k in positions], [f"y{n}" for n in range(count)])
            inputs.append(results[0])
        return results

    def finish(self, results: Sequence[Value]) -> tuple[Region, list[np.ndarray]]:
        """A region that is the loop and gives what it collects, and arrays for its arguments."""
        go_on = Value("go", TensorType(np.dtype(bool), ()), self.body, 1)
        number = Value("i", TensorType(np.dtype(np.int64), ()), self.body, 0)
        copies = [copy for _, _, copy in self.captured]
        self.body.arguments = [number, go_on, *self.states, *self.slices, *copies]
        for index, argument in enumerate(self.body.arguments):
            argument.index = index
        self.body.results = [go_on, *(value for _, value in self.carried), *results]
        op = Loop(len(self.carried), (Scanned(),) * len(self.scanned), (Collected(),) * len(results))
        arrays = [*(first for first, _ in self.carried), *self.scanned]
        values = [self.main.add_argument("x", TensorType(x.dtype, x.shape)) for x in arrays]
        trip = self.outer.constant(np.array(STEPS))
        inputs = [trip, None, *values, *(value for _, value, _ in self.captured)]
        names = [f"o{n}" for n in range(len(self.carried) + len(results))]
        self.main.results = self.outer.add_many(op, inputs, names, regions=[self.body], name="loop")[
            len(self.carried) :
        ]
        return self.main, arrays


def draw(rng: np.random.Generator, shape: Sequence[int], dtype: Any, wild: float = 0.1) -> np.ndarray:
    """Random elements; some of the floats are NaN, infinite or a zero of either sign, some integers the extremes."""
    dtype = BY_NAME.get(dtype, dtype)
    if dtype == BOOL:
        return rng.random(shape) < 0.5
    if is_float(dtype):
        special = rng.choice([np.nan, np.inf, -np.inf, 0.0, 1.0], shape)
        return np.where(rng.random(shape) < wild, special, rng.standard_normal(shape)).astype(dtype)
    limits = np.iinfo(dtype)
    small = rng.integers(max(limits.min, -9), 10, shape).astype(dtype)
    special = rng.choice(np.array([limits.min, limits.max, limits.max // 2], dtype), shape)
    return np.where(rng.random(shape) < wild, special, small)


def looped(cases: Sequence[Case], seed: int = 0) -> tuple[Region, list[np.ndarray]]:
    """A Loop whose body is the cases, one after the other, and arrays for the arguments of the region around it."""
    rng = np.random.default_rng(seed)
    built = Looped(rng)
    results = []
    for case in cases:
        case.draw(rng)
        results += built.add(case)
    return built.finish(results)


def interpreted(launch: Launch, arrays: Sequence[np.ndarray]) -> tuple[int, list[np.ndarray]]:
    """How the program ends when it is interpreted, and what it collects."""
    graph = launch.graph
    outs = [np.zeros(t.shape, t.dtype) for t in graph.outputs]
    inputs = [*(arrays[n].copy() for n in graph.inputs), *graph.arrays, *outs]
    outcome = interpret(graph.program, [], inputs)
    return outcome.status, outcome.arrays[len(inputs) - len(outs) :]


def compiled_run(cases: Sequence[Case], seed: int = 0) -> tuple[Launch, list[np.ndarray]]:
    """A verified program of the cases, and arrays to run it on."""
    region, arrays = looped(cases, seed)
    launch = compile_graph(lower_graph(region, [Known(v.type) for v in region.arguments]))
    verify_program(launch.graph.program)
    return launch, arrays


def collected(launch: Launch, arrays: Sequence[np.ndarray]) -> list[np.ndarray] | None:
    """What machine code collects; None where it fails."""
    return launch.bind({}).run([arrays[n] for n in launch.graph.inputs])


def check_failure(case: Case, seed: int = 0) -> None:
    """Machine code and interpreted program both end where `op.run` refuses the inputs of an iteration."""
    launch, arrays = compiled_run([case], seed)
    with pytest.raises(RunError):
        list(map(case.expected, range(STEPS)))
    assert case.native != any(call.op.name in case.names for call in launch.graph.program.calls)
    assert interpreted(launch, arrays)[0] == 1
    assert collected(launch, arrays) is None


def check(cases: Sequence[Case], seed: int = 0) -> None:
    """Machine code, interpreted program and `op.run` agree for all cases."""
    for first in range(0, len(cases), BATCH):
        check_together(cases[first : first + BATCH], seed + first)


def check_together(cases: Sequence[Case], seed: int) -> None:
    """The same for the cases in one loop."""
    launch, arrays = compiled_run(cases, seed)
    calls = {call.op.name for call in launch.graph.program.calls}
    left_out = calls & set().union(*(case.names for case in cases if case.native))
    assert not left_out, f"{', '.join(left_out)} have no native form"
    status, by_program = interpreted(launch, arrays)
    assert status == 0
    by_code = collected(launch, arrays)
    assert by_code is not None
    actual = [(by_program, "program"), (by_code, "code")]
    position = 0
    for case in cases:
        for step, n, expected in ((s, n, x) for s in range(STEPS) for n, x in enumerate(case.expected(s))):
            for rows, how in actual:
                compare(rows[position + n][step], expected, case, f"{how}, {case}, output {n}, iteration {step}")
        position += case.outputs


def compare(actual: np.ndarray, expected: np.ndarray, case: Case, where: str) -> None:
    assert actual.dtype == expected.dtype and actual.shape == expected.shape, where
    if case.ulps and is_float(actual.dtype):
        narrow = actual.dtype.itemsize == 2
        unit = float(ml_dtypes.finfo(actual.dtype).eps) * (NARROW_ULPS if narrow else case.ulps)
        numbers = actual.astype(np.float64), expected.astype(np.float64)
        np.testing.assert_allclose(*numbers, rtol=unit, atol=unit, err_msg=where)
    else:
        np.testing.assert_array_equal(_as_numbers(actual), _as_numbers(expected), err_msg=where)


def _as_numbers(array: np.ndarray) -> np.ndarray:
    """bfloat16 in a type that NumPy's tests know NaN of."""
    return array.astype(np.float32) if is_float(array.dtype) and array.dtype.itemsize == 2 else array


def product(op: Any, dtype: str, *shapes: tuple[int, ...], **options: Any) -> Case:
    """Operands from -9 to 9, for sums whose rounding errors are bounded by the inner length."""
    inner = shapes[0][-1]
    return Case(op, lambda rng: [draw(rng, s, dtype, wild=0) for s in shapes], ulps=4 * inner + 8, **options)
