"""What a session shows of its model: inputs, outputs, and what the file says about itself."""

from __future__ import annotations

from msgspec import Struct, field


class NodeArg(Struct, frozen=True):
    """An input or output of a model: its name, its shape (ints, names, None) and its type as `tensor(float)`.

    The shape of a sequence or optional is that of its elements; it is empty where the rank is not known.
    """

    name: str
    shape: list[int | str | None]
    type: str


class ModelMetadata(Struct, frozen=True):
    """The metadata of a model file."""

    producer_name: str = ""
    graph_name: str = ""
    domain: str = ""
    description: str = ""
    graph_description: str = ""
    version: int = 0
    custom_metadata_map: dict[str, str] = field(default_factory=dict[str, str])


class Interface(Struct, frozen=True):
    """The inputs that every run needs, those that have a default value, and the outputs, all without states."""

    inputs: tuple[NodeArg, ...]
    overridable: tuple[NodeArg, ...]
    outputs: tuple[NodeArg, ...]
    metadata: ModelMetadata
