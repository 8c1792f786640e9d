"""How one hub node becomes layers: a function for each op that has an OpenVINO form."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from whorl.ir.build import Builder
from whorl.ir.constants import LazyArray
from whorl.ir.graph import Node, Value
from whorl.ir.types import TensorType


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
        **attributes: Any,
    ) -> list[Source]:
        """Write a layer of opset `version`. Attributes may be text, numbers, truth values, element types, sequences."""
        ...

    def constant(self, value: np.ndarray | LazyArray, name: str = "") -> Source:
        """A Const layer."""
        ...

    def constant_value(self, value: Value | None) -> np.ndarray | None:
        """The elements of a hub value that is a constant; None otherwise."""
        ...

    def through(self, node: Node, build: Callable[..., Value | Sequence[Value]]) -> list[Source]:
        """Write hub nodes in the node's place: `build(builder, *inputs)` adds them and gives the node's outputs."""
        ...


Exporter = Callable[[Node, LayerWriter], "Source | Sequence[Source | None]"]
"""Writes a node and says where its outputs come from; None for a sequence, which is noted otherwise."""
EXPORTERS: dict[str, Exporter] = {}


def exporter(name: str) -> Callable[[Exporter], Exporter]:
    """Register a function that writes hub op `name` and gives where its outputs come from.

    It raises SaveError where OpenVINO has no form for what the node means.
    """

    def register(function: Exporter) -> Exporter:
        EXPORTERS[name] = function
        return function

    return register


def rewritten(name: str) -> Callable[[Callable[..., Value | Sequence[Value]]], Callable[..., Value | Sequence[Value]]]:
    """Register a function `(node, builder, *inputs)` that says hub op `name` in other hub ops, for writing."""

    def register(function: Callable[..., Value | Sequence[Value]]) -> Callable[..., Value | Sequence[Value]]:
        def write(node: Node, writer: LayerWriter) -> list[Source]:
            def build(builder: Builder, *inputs: Value | None) -> Value | Sequence[Value]:
                return function(node, builder, *inputs)

            return writer.through(node, build)

        EXPORTERS[name] = write
        return function

    return register
