"""How one hub node becomes layers: a function for each op class that has an OpenVINO form."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Concatenate, Protocol, TypeVar

import numpy as np

from whorl.ir.build import Builder
from whorl.ir.constants import LazyArray
from whorl.ir.graph import Node, Value
from whorl.ir.op import Op
from whorl.ir.types import TensorType

O = TypeVar("O", bound=Op)
Attribute = bool | int | float | str | np.dtype | np.ndarray | Sequence[int] | Sequence[float] | None
"""An attribute of a layer before it is text; None leaves it out."""


@dataclass(frozen=True, slots=True)
class Source:
    """An output port of a layer that is written: where edges come from, and the type there."""

    layer: int
    port: int
    type: TensorType


class LayerWriter(Protocol):
    """What an exporter calls. Layers are written in the order of the calls."""

    def source(self, value: Value | None) -> Source:
        """Where a hub value comes from. Errors: SaveError for None."""
        ...

    def layer(
        self,
        type: str,
        version: int,
        inputs: Sequence[Source],
        outputs: Sequence[TensorType],
        name: str = "",
        **attributes: Attribute,
    ) -> list[Source]:
        """Write a layer of opset `version`."""
        ...

    def constant(self, value: np.ndarray | LazyArray, name: str = "") -> Source:
        """A Const layer."""
        ...

    def constant_value(self, value: Value | None) -> np.ndarray | None:
        """The elements of a hub value that is a constant; None otherwise."""
        ...

    def through(self, node: Node, build: Callable[..., Value | Sequence[Value]]) -> list[Source]:
        """Write hub nodes instead of the node: `build(builder, *inputs)` adds them and returns the node's outputs."""
        ...


Sources = Source | Sequence[Source | None]
"""Where the outputs of a node come from; None for a sequence, which is stored otherwise."""
EXPORTERS: dict[type[Op], Callable[[Node, LayerWriter], Sources]] = {}


def exporter(*kinds: type[O]) -> Callable[[Callable[[O, Node, LayerWriter], Sources]], Callable[..., Sources]]:
    """Register a function that writes nodes of some ops and returns where their outputs come from.

    It raises SaveError where OpenVINO has no form for what the node means.
    """

    def register(function: Callable[[O, Node, LayerWriter], Sources]) -> Callable[..., Sources]:
        def write(node: Node, writer: LayerWriter) -> Sources:
            assert isinstance(node.op, kinds)
            return function(node.op, node, writer)

        for kind in kinds:
            if kind in EXPORTERS:
                raise TypeError(f"two functions write {kind.__name__}")
            EXPORTERS[kind] = write
        return function

    return register


Rewrite = Callable[Concatenate[O, Builder, ...], Value | Sequence[Value]]


def rewritten(*kinds: type[O]) -> Callable[[Rewrite[O]], Rewrite[O]]:
    """Register a function `(op, builder, *inputs)` that expresses some ops in other hub ops, for writing."""

    def register(function: Rewrite[O]) -> Rewrite[O]:
        @exporter(*kinds)
        def write(op: O, node: Node, writer: LayerWriter) -> Sources:
            return writer.through(node, lambda build, *inputs: function(op, build, *inputs))

        return function

    return register
