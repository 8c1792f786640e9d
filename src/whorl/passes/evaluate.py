"""Running regions at compile time, as far as their values are known, within a budget."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
from msgspec import Struct, field

from whorl.errors import WhorlError
from whorl.ir.constants import Constant, as_array
from whorl.ir.graph import Node, Region, Value, as_types, as_values
from whorl.ir.types import TensorType, fact_of
from whorl.ops.control.flow import If, Loop
from whorl.ops.control.iteration import Iteration, empty_collected
from whorl.ops.core.base import one_element
from whorl.passes.dce import live_nodes
from whorl.passes.fold_constants import FAILURES
from whorl.passes.rules.conditions import static_shape
from whorl.passes.rules.pattern import constant_of, tensor_type


class Unresolved:
    """A value that is known only at run time."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "unresolved"


UNRESOLVED = Unresolved()
_CLOCK_EVERY = 64
"""Nodes run between two looks at the clock."""
_LARGEST_CONSTANT = 1 << 26
"""Bytes up to which a constant is read for an evaluation."""
_DEEPEST = 64
"""Nodes in a row that make a collection."""


class Stopped(Exception):
    """The evaluation cannot go on: the budget is spent, or a node failed."""


class Budget(Struct):
    """What one evaluation may take: iterations of all loops, seconds, and bytes of any one value or collection."""

    iterations: int
    seconds: float
    bytes: int
    began: float = field(default_factory=time.monotonic)
    steps: int = 0

    def iterate(self) -> None:
        self.iterations -= 1
        if self.iterations < 0:
            raise Stopped("more iterations than may be evaluated")

    def step(self) -> None:
        self.steps += 1
        if self.steps % _CLOCK_EVERY == 0 and time.monotonic() - self.began > self.seconds:
            raise Stopped("more time than may be taken")

    def hold(self, size: int) -> None:
        if size > self.bytes:
            raise Stopped("more bytes than may be held")


class Evaluator:
    """Runs nodes by `op.run`; what an unresolved value flows into is unresolved."""

    def __init__(self, budget: Budget) -> None:
        self.budget = budget
        self._needed: dict[Region, list[Node]] = {}

    def region(self, region: Region, arguments: Sequence[Any]) -> list[Any]:
        """The results of a region; only what they depend on is run."""
        env: dict[Value, Any] = dict(zip(region.arguments, arguments, strict=True))
        for node in self._nodes(region):
            self.budget.step()
            inputs = [None if value is None else env[value] for value in node.inputs]
            env.update(zip(node.outputs, self.node(node, inputs), strict=False))
        return [env[value] for value in region.results]

    def node(self, node: Node, inputs: Sequence[Any]) -> Sequence[Any]:
        """The outputs of a node."""
        unresolved = [UNRESOLVED] * len(node.outputs)
        match node.op:
            case If():
                condition = inputs[0]
                if condition is UNRESOLVED:
                    return unresolved
                return self.region(node.regions[0 if is_true(condition, node) else 1], inputs[1:])
            case Loop():
                return LoopRun(node, inputs, self).to_end()
            case _:
                pass
        if not node.op.pure or any(value is UNRESOLVED for value in inputs):
            return unresolved
        return self._run(node, inputs)

    def _run(self, node: Node, inputs: Sequence[Any]) -> Sequence[Any]:
        try:
            if not isinstance(node.op, Constant):
                self.budget.hold(_foreseen(node, inputs))
            with np.errstate(all="ignore"):
                values = as_values(node.op.run(*inputs))
        except FAILURES as error:
            raise Stopped(f"{node.title} fails: {error}") from None
        return values

    def _nodes(self, region: Region) -> list[Node]:
        """The nodes that the results depend on."""
        nodes = self._needed.get(region)
        if nodes is None:
            nodes = self._needed[region] = [node for node, _ in live_nodes(region, region.results)][::-1]
        return nodes


def known_value(value: Value | None, depth: int = _DEEPEST) -> Any:
    """What a value is if that is known now: a constant, or a sequence or optional that is made of such."""
    if value is None:
        return None
    constant = constant_of(value)
    if constant is not None:
        array = constant.value
        return as_array(array) if math.prod(array.shape) * array.dtype.itemsize <= _LARGEST_CONSTANT else UNRESOLVED
    node = value.owner
    if isinstance(value.type, TensorType) or not isinstance(node, Node) or node.regions or not node.op.pure:
        return UNRESOLVED
    inputs = [known_value(each, depth - 1) if depth else UNRESOLVED for each in node.inputs]
    if any(each is UNRESOLVED for each in inputs):
        return UNRESOLVED
    try:
        return as_values(node.op.run(*inputs))[value.index]
    except FAILURES:
        return UNRESOLVED


def is_true(condition: np.ndarray, node: Node) -> bool:
    """The value of a condition."""
    try:
        return bool(one_element(condition, "the condition"))
    except WhorlError as error:
        raise Stopped(f"{node.title} fails: {error}") from None


def _foreseen(node: Node, inputs: Sequence[Any]) -> int:
    """The bytes that a node's first output will take, where they follow from its inputs."""
    type = node.outputs[0].type
    if static_shape(type) is None:
        type = as_types(node.op.infer(*(None if x is None else fact_of(x) for x in inputs)))[0]
    shape = static_shape(type)
    return 0 if shape is None or not isinstance(type, TensorType) else math.prod(shape) * type.dtype.itemsize


class LoopRun:
    """One Loop, run as far as its iterations are known."""

    def __init__(self, node: Node, inputs: Sequence[Any], evaluator: Evaluator) -> None:
        assert isinstance(node.op, Loop)
        self.node, self.op, self.evaluator = node, node.op, evaluator
        self.inputs = list(inputs)
        trip, condition, carried, scanned, _ = self.op.split(inputs)
        compared = carried if self.op.keep_shapes else ()
        self.is_open = any(value is UNRESOLVED for value in (trip, condition, *scanned, *compared))
        self.collected_bytes = 0
        if self.is_open:
            return
        body = node.regions[0]
        ranks = (tensor_type(body.arguments[0]).rank or 0, tensor_type(body.arguments[1]).rank or 0)
        try:
            self.iteration = Iteration(self.op, inputs, ranks)
        except WhorlError as error:
            raise Stopped(f"{node.title} fails: {error}") from None

    def step(self) -> bool:
        """Run one iteration; whether it counts: the loop was not over, and nothing of its results is unresolved."""
        if self.is_open:
            return False
        try:
            arguments = self.iteration.next()
        except WhorlError as error:
            raise Stopped(f"{self.node.title} fails: {error}") from None
        if arguments is None:
            return False
        self.evaluator.budget.iterate()
        results = self.evaluator.region(self.node.regions[0], arguments)
        if results[0] is UNRESOLVED and not self.iteration.stops:
            results[0] = np.array(True)
        if any(value is UNRESOLVED for value in results):
            return False
        self.collected_bytes += sum(getattr(value, "nbytes", 0) for value in results[1 + self.op.carried :])
        self.evaluator.budget.hold(self.collected_bytes)
        try:
            self.iteration.take(results)
        except WhorlError as error:
            raise Stopped(f"{self.node.title} fails: {error}") from None
        return True

    def to_end(self) -> list[Any]:
        """The outputs; all unresolved where something of an iteration is."""
        while self.step():
            pass
        if self.is_open or not self.iteration.is_over:
            return [UNRESOLVED] * len(self.node.outputs)
        return self.outputs()

    def outputs(self) -> list[Any]:
        """What the loop gives, once it is over."""
        iteration = self.iteration
        try:
            if iteration.index:
                return [*iteration.state, *iteration.last, *iteration.collected()]
        except WhorlError as error:
            raise Stopped(f"{self.node.title} fails: {error}") from None
        if self.op.last:
            raise Stopped("no iteration runs, so there is no last value")
        return [*iteration.state, *empty_collections(self.node)]


def empty_collections(node: Node) -> list[np.ndarray]:
    """What no iteration collects; stopped where that depends on the run."""
    assert isinstance(node.op, Loop)
    arrays: list[np.ndarray] = []
    for value, how in zip(node.outputs[node.op.carried + node.op.last :], node.op.collected, strict=False):
        type = tensor_type(value)
        if type.rank is None or any(not isinstance(d, int) for _, d in _other_dims(type, how.axis)):
            raise Stopped("the shape of what no iteration collects is known only at run time")
        arrays.append(empty_collected(type, how))
    return arrays


def _other_dims(type: TensorType, axis: int) -> list[tuple[int, Any]]:
    assert isinstance(type.shape, tuple)
    return [(k, dim) for k, dim in enumerate(type.shape) if k != axis % len(type.shape)]
