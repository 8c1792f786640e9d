"""Running a module while every value, at every iteration, is held against the type that inference gave it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from onnx import ModelProto, ValueInfoProto

import whorl
from whorl.ir import dims
from whorl.ir.dims import UNKNOWN, Linear
from whorl.ir.graph import Module, Node, Region, Value, as_values
from whorl.ir.types import AnyShape, MapType, OptionalType, SequenceType, TensorType, Type
from whorl.runtime.interpreter.control import BranchKernel, LoopKernel
from whorl.runtime.interpreter.plan import Plan
from whorl.runtime.interpreter.step import Run

RELAXATIONS = ("declared", "named", "shared", "blank", "unranked")
"""How `relaxed` declares inputs: as they are, every axis named for itself, equal lengths sharing a name, nameless."""


def relaxed(model: ModelProto, how: str) -> ModelProto:
    """The model with less said of the shapes of its inputs, and nothing of its outputs'."""
    copy = ModelProto()
    copy.CopyFrom(model)
    if how == "declared":
        return copy
    constants = {tensor.name for tensor in copy.graph.initializer} if copy.ir_version < 4 else set()
    for info in copy.graph.input:
        if info.name not in constants:
            relax(info, how)
    for info in copy.graph.output:
        info.type.Clear()
    del copy.graph.value_info[:]
    return copy


def relax(info: ValueInfoProto, how: str) -> None:
    type = info.type
    while (kind := type.WhichOneof("value")) in ("sequence_type", "optional_type"):
        type = getattr(type, kind).elem_type
    if kind != "tensor_type" or not type.tensor_type.HasField("shape"):
        return
    if how == "unranked":
        type.tensor_type.ClearField("shape")
        return
    for k, dim in enumerate(type.tensor_type.shape.dim):
        if how == "shared" and dim.HasField("dim_value"):
            dim.dim_param = f"length_{dim.dim_value}"
        elif how == "named":
            dim.dim_param = f"{info.name}_{k}"
        elif how == "blank":
            dim.Clear()


class Watch:
    """A session that checks. `problems` says what did not hold; the first value that has a dim's name binds it."""

    def __init__(self, module: Module) -> None:
        options = whorl.SessionOptions()
        options.backend = "interpreter"
        self.session = whorl.InferenceSession(module, options)
        self.session.whole.plan = WatchedPlan(self.session.plan, module.main, self)  # type: ignore[assignment]
        self.names: list[dict[str, int]] = []
        self.problems: list[str] = []
        self.seen = 0

    def run(self, feeds: Mapping[str, Any]) -> list[Any]:
        self.names = [{}]
        return self.session.run(None, feeds)

    def check(self, value: Value, actual: Any) -> None:
        """Compare one value with its type and with the elements that inference knows."""
        self.seen += 1
        reason = self.mismatch(value.type, actual)
        if not reason and value.known is not None:
            reason = self.wrong_elements(value.known, actual)
        if reason:
            self.problems.append(f"{value!r}: {reason}")

    def mismatch(self, type: Type, actual: Any) -> str:
        match type:
            case TensorType():
                return self.wrong_tensor(type, actual)
            case OptionalType():
                return "" if actual is None else self.mismatch(type.element, actual)
            case SequenceType():
                if not isinstance(actual, list):
                    return f"is {actual!r}"
                return next((reason for item in actual if (reason := self.mismatch(type.element, item))), "")
            case MapType():
                return "" if isinstance(actual, dict) else f"is {actual!r}"

    def wrong_tensor(self, type: TensorType, actual: Any) -> str:
        if not isinstance(actual, np.ndarray) or actual.dtype != type.dtype:
            return f"is {getattr(actual, 'dtype', actual)!r}"
        if isinstance(type.shape, AnyShape):
            return ""
        if len(type.shape) != actual.ndim:
            return f"has shape {list(actual.shape)}"
        for dim, length in zip(type.shape, actual.shape, strict=True):
            if self.number(dim, length) != length:
                return f"has shape {list(actual.shape)}, {dim} is {self.number(dim, length)}"
        return ""

    def wrong_elements(self, known: np.ndarray, actual: np.ndarray) -> str:
        if known.size != actual.size:
            return f"is {actual.tolist()}, known as {known.tolist()}"
        for message, element in zip(known.flat, actual.flat, strict=True):
            number = self.number(message, None)
            same = number == element or (number != number and element != element)
            if number is not None and not same:
                return f"is {actual.tolist()}, known as {known.tolist()} with {number} for {message}"
        return ""

    def number(self, dim: Any, actual: int | None) -> Any:
        """What a dim or a known element says: `found` binds a bare name or stands for what is not known."""
        if dim is UNKNOWN:
            return actual
        if not isinstance(dim, Linear):
            return dim
        names = self.names[-1]
        if len(dim.terms) == 1 and not dim.constant and dim.terms[0][1] == 1 and isinstance(dim.terms[0][0], str):
            return actual if actual is None else names.setdefault(dim.terms[0][0], actual)
        result = dims.substitute(dim, names)  # type: ignore[arg-type]
        return result if isinstance(result, int) else actual if result is UNKNOWN else f"{dim} with names nobody gave"


class WatchedPlan:
    """A plan whose steps, and those of the regions inside, report what they make."""

    def __init__(self, plan: Plan, region: Region, watch: Watch) -> None:
        self.plan, self.region, self.watch = plan, region, watch
        self.template = plan.template
        for step in plan.steps:
            self.descend(step.kernel, step.node)
            step.kernel = self.reporting(step)

    def descend(self, kernel: Any, node: Node) -> None:
        match kernel:
            case LoopKernel():
                kernel.plan = WatchedPlan(kernel.plan, node.regions[0], self.watch)
            case BranchKernel():
                pairs = zip(kernel.plans, node.regions, strict=True)
                kernel.plans = [WatchedPlan(plan, region, self.watch) for plan, region in pairs]

    def reporting(self, step: Any) -> Any:
        kernel, watch = step.kernel, self.watch

        def run(*inputs: Any) -> Any:
            results = kernel(*inputs)
            for value, actual in zip(step.node.outputs, as_values(results), strict=False):
                watch.check(value, actual)
            return results

        return run

    def __call__(self, run: Run, *arguments: Any) -> list[Any]:
        self.watch.names.append(dict(self.watch.names[-1]))
        for value, actual in zip(self.region.arguments, arguments, strict=True):
            self.watch.check(value, actual)
        results = self.plan(run, *arguments)
        self.watch.names.pop()
        return results
