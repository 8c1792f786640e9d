"""How one hub node becomes layers: a function for each op class that has an OpenVINO form."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Concatenate, TypeVar

from whorl.formats.openvino.writing.net import Exporter, NetWriter
from whorl.formats.openvino.writing.sources import Sources
from whorl.ir.build import Builder
from whorl.ir.graph import Node, Op, Value

O = TypeVar("O", bound=Op)
Rewrite = Callable[Concatenate[O, Builder, ...], Value | Sequence[Value]]
EXPORTERS: dict[type[Op], Exporter] = {}


def exporter(*kinds: type[O]) -> Callable[[Callable[[O, Node, NetWriter], Sources]], Callable[..., Sources]]:
    """Register a function that writes nodes of some ops and returns where their outputs come from.

    It raises SaveError where OpenVINO has no form for what the node means.
    """

    def register(function: Callable[[O, Node, NetWriter], Sources]) -> Callable[..., Sources]:
        def write(node: Node, writer: NetWriter) -> Sources:
            assert isinstance(node.op, kinds)
            return function(node.op, node, writer)

        for kind in kinds:
            if kind in EXPORTERS:
                raise TypeError(f"two functions write {kind.__name__}")
            EXPORTERS[kind] = write
        return function

    return register


def rewritten(*kinds: type[O]) -> Callable[[Rewrite[O]], Rewrite[O]]:
    """Register a function `(op, builder, *inputs)` that expresses some ops in other hub ops, for writing."""

    def register(function: Rewrite[O]) -> Rewrite[O]:
        @exporter(*kinds)
        def write(op: O, node: Node, writer: NetWriter) -> Sources:
            return writer.through(node, lambda build, *inputs: function(op, build, *inputs))

        return function

    return register
