"""Regions of convolutions, built op by op, and their programs beside what the ops give one by one."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from whorl.ir.build import Builder
from whorl.ir.graph import Region, Value
from whorl.ir.infer import Inference
from whorl.ir.types import Known, TensorType
from whorl.kernel.interpret import interpret
from whorl.kernel.program import Call, For, Statement
from whorl.kernel.verify import verify_program
from whorl.lowering.graph_program import GraphProgram
from whorl.lowering.graphs import lower_graph
from whorl.ops.reduce.normalization import BatchNormalization
from whorl.ops.windows.convolution import Conv

SHAPE = (1, 3, 6, 7)
FEATURES = 5
RESULT = (1, FEATURES, 6, 7)


class Model:
    """A region with the inputs x and r, being built; `draw` gives constants."""

    def __init__(self, shape: tuple[int, ...] = SHAPE, features: int = FEATURES) -> None:
        self.rng = np.random.default_rng(0)
        self.features = features
        self.region = Region()
        self.build = Builder(self.region, Inference())
        result = (shape[0], features, *shape[2:])
        self.x, self.r = self._argument("x", shape), self._argument("r", result)

    def _argument(self, name: str, shape: tuple[int, ...]) -> Value:
        value = Value(name, TensorType(np.dtype(np.float32), shape), self.region, len(self.region.arguments))
        self.region.arguments.append(value)
        return value

    def draw(self, *shape: int) -> Value:
        return self.build.constant(self.rng.uniform(0.5, 2, shape).astype(np.float32))

    @property
    def square(self) -> Value:
        """Filters 1 x 1 over features."""
        return self.draw(FEATURES, FEATURES, 1, 1)

    def convolved(self) -> Value:
        filters = self.draw(FEATURES, 3, 3, 3)
        return self.build.add(Conv(pads=(1, 1, 1, 1)), self.x, filters, self.draw(FEATURES))

    def normalized(self, value: Value) -> Value:
        return self.build.add(BatchNormalization(), value, *(self.draw(self.features) for _ in range(4)))

    def results(self, *values: Value) -> list[np.ndarray]:
        """What the region gives for drawn inputs, by `run`."""
        self.region.results = list(values)
        shapes = [value.type.shape for value in self.region.arguments]
        self.passed = [self.rng.standard_normal(shape).astype(np.float32) for shape in shapes]
        env = dict(zip(self.region.arguments, self.passed, strict=True))
        for node in self.region.nodes:
            actual = node.op.run(*(None if v is None else env[v] for v in node.inputs))
            env.update(zip(node.outputs, actual if isinstance(actual, tuple) else (actual,), strict=False))
        return [env[value] for value in values]


def nests(statements: list[Statement]) -> int:
    """Nests of the program itself; what kernels do is not counted, nor loops that only call them."""
    return sum(isinstance(s, For) and not any(isinstance(inner, Call) for inner in s.body) for s in statements)


def statements_of(block: list[Statement]) -> Iterator[Statement]:
    for statement in block:
        yield statement
        if isinstance(statement, For):
            yield from statements_of(statement.body)


def run(model: Model, *values: Value, tolerance: float = 1e-5) -> GraphProgram:
    """The program of a model whose result, interpreted, is that of its ops one by one."""
    expected = model.results(*values)
    graph = lower_graph(model.region, [Known(TensorType(x.dtype, x.shape)) for x in model.passed])
    verify_program(graph.program)
    arrays = [*(model.passed[n] for n in graph.inputs), *graph.arrays, *(np.zeros_like(e) for e in expected)]
    outcome = interpret(graph.program, [], [np.array(x, order="C") for x in arrays])
    assert outcome.status == 0
    for actual, required in zip(outcome.arrays[-len(expected) :], expected, strict=True):
        np.testing.assert_allclose(actual, required, rtol=tolerance, atol=tolerance)
    return graph


def calls(graph: GraphProgram) -> list[str]:
    return [s.kernel for s in graph.program.body if isinstance(s, Call)]
