"""State of the reader while it reads one net: weights, options, variables, and locations for messages."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct, field
from msgspec.structs import replace

from whorl.errors import LoadError, format_location
from whorl.formats.openvino import COMPAT
from whorl.formats.openvino.codes import Warning, problem
from whorl.formats.openvino.document import Layer
from whorl.formats.openvino.weights.read import Weights
from whorl.ir.build import Builder
from whorl.ir.graph import Value

MAX_DEPTH = 64
"""Nested bodies a model may have unless the caller allows more."""


class IrOptions(Struct, frozen=True):
    """How IR is read. `compat` "openvino-cpu" imitates OpenVINO's CPU plugin; `max_depth`: nested bodies allowed."""

    compat: str = ""
    max_depth: int = MAX_DEPTH

    def __post_init__(self) -> None:
        if self.compat not in COMPAT:
            raise LoadError(f"there is no compat {self.compat!r}", fix="use 'openvino-cpu', or leave it out")


class ReadContext(Struct):
    """State of the reader in one net. `regions` are the bodies around it, innermost first.

    `variables` maps each variable to its current value: a reader of a layer with bodies passes those that its bodies
    use in and out. `warnings` is shared by all frames of a file, and so is `changing`: by the
    `id` of a loop's layer, carried values and their axes whose lengths change, None for the rank. A loop inside of what
    is read again so begins with what was learned of it, and reading takes no time that grows with powers of the depth.
    """

    weights: Weights
    options: IrOptions = field(default_factory=IrOptions)
    regions: tuple[str, ...] = ()
    variables: dict[str, Value] = field(default_factory=dict)
    warnings: list[Warning] = field(default_factory=list)
    changing: dict[int, set[tuple[int, int | None]]] = field(default_factory=dict)

    @property
    def compat(self) -> str:
        """ "" or "openvino-cpu"."""
        return self.options.compat

    def inside(self, region: str) -> ReadContext:
        """The context of a body, `body of Loop 'l'`, with variables of its own. Errors: LoadError past the depth."""
        if len(self.regions) >= self.options.max_depth:
            raise problem(
                "OV104",
                f"bodies are nested deeper than {self.options.max_depth}",
                fix="raise max_depth if the file is trusted",
            )
        return replace(self, regions=(region, *self.regions), variables={})

    def bare(self) -> ReadContext:
        """The same context without variables."""
        return replace(self, variables={})

    def around(self, regions: tuple[str, ...]) -> ReadContext:
        """A context of the same file inside other bodies."""
        return replace(self, regions=regions)

    def location(self, layer: Layer | None = None) -> str:
        """A layer with its line, or the net, and the bodies around it."""
        if layer is None:
            return format_location(*(self.regions or ("the net",)))
        return format_location(f"{layer.title} (line {layer.line})", *self.regions)

    def warn(self, code: str, message: str, layer: Layer | None = None) -> None:
        """Note a problem that does not stop the reading."""
        self.warnings.append(Warning(code, message, self.location(layer)))


BodyReader = Callable[[Layer, list[Value], Builder, ReadContext], list[Value]]
BODY_READERS: dict[str, BodyReader] = {}
"""The readers of layers with bodies, by the type in lower case: "loop", "tensoriterator", "if"."""
