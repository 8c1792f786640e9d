"""Layers of a type that no importer reads, carried through so that a writer can put them back."""

from __future__ import annotations

from typing import Any, ClassVar

from whorl.errors import RunError
from whorl.ir.graph import Op
from whorl.ir.types import Fact, TensorType


class OpaqueLayer(Op, frozen=True):
    """A layer of an OpenVINO file as it stands there: its type, opset, attributes and the declared output types.

    It cannot run. `names` are the tensor names of each output.
    """

    domain: ClassVar[str] = "org.openvino"

    type: str
    version: str
    attributes: tuple[tuple[str, str], ...] = ()
    types: tuple[TensorType, ...] = ()
    rt_info: tuple[tuple[str, str], ...] = ()
    names: tuple[tuple[str, ...], ...] = ()

    def infer(self, *inputs: Fact | None) -> tuple[TensorType, ...]:
        return self.types

    def run(self, *inputs: Any) -> Any:
        raise RunError(
            f"is a {self.type} of {self.version}, which is kept for writing but cannot run",
            fix="run the model in OpenVINO, or replace this layer",
        )
