"""How one hub node becomes ONNX nodes: by field names where the versions agree, else by a registered exporter."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from whorl.ir.graph import Node

if TYPE_CHECKING:
    from whorl.formats.onnx.writer import GraphWriter

Exporter = Callable[[Node, "GraphWriter"], None]
EXPORTERS: dict[str, list[tuple[int, Exporter]]] = {}


def exporter(name: str, *, until: int = 1 << 30) -> Callable[[Exporter], Exporter]:
    """Register a function that writes hub op `name` for target opsets up to and including `until`.

    Where several are registered, the one with the lowest sufficient `until` is taken. The function calls
    `write.node(...)`; it raises SaveError where the target cannot say what the node means.
    """

    def register(function: Exporter) -> Exporter:
        EXPORTERS.setdefault(name, []).append((until, function))
        EXPORTERS[name].sort(key=lambda entry: entry[0])
        return function

    return register


def find_exporter(name: str, opset: int) -> Exporter | None:
    """The function that writes this op at an opset; None for writing by field names."""
    return next((function for until, function in EXPORTERS.get(name, ()) if opset <= until), None)
