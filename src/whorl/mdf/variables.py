"""What a graph keeps from one evaluation to the next, and the names that an expression of a node sees."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from msgspec import Struct

from whorl.mdf.model import Datum

INPUT, PARAMETER, FUNCTION, OUTPUT = "input_ports", "parameters", "functions", "output_ports"
COUNTER = "counters"
"""The kind of the whole numbers that a schedule keeps."""


class Cell(Struct, frozen=True, order=True):
    """A value that a graph keeps from one evaluation to the next."""

    node: str
    kind: str
    id: str

    def __str__(self) -> str:
        return f"{self.node}.{self.id}"

    @property
    def names(self) -> tuple[str, str]:
        """What this cell may be called: "node.id" and "node.kind.id"."""
        return str(self), f"{self.node}.{self.kind}.{self.id}"


class State:
    """The values of all cells, over those of an `outer` state; a cell that was never set is None.

    `needed`: cells read before they were written here.
    """

    def __init__(self, values: Mapping[Cell, Datum] | None = None, outer: State | None = None) -> None:
        self._values, self.outer = dict(values or {}), outer
        self.needed: set[Cell] = set()
        self.written: dict[Cell, None] = {}

    def __getitem__(self, cell: Cell) -> Datum:
        if cell in self.written:
            return self._values[cell]
        self.needed.add(cell)
        return self._values.get(cell) if self.outer is None or cell in self._values else self.outer[cell]

    def later(self, cell: Cell) -> Callable[[], Datum]:
        """What looks up the present value when somebody asks, whatever is written in between."""
        is_written, value = cell in self.written, self._values.get(cell)
        outside = None if self.outer is None or cell in self._values else self.outer.later(cell)

        def look_up() -> Datum:
            if not is_written:
                self.needed.add(cell)
            return value if outside is None else outside()

        return look_up

    def __setitem__(self, cell: Cell, value: Datum) -> None:
        self.written[cell] = None
        self._values[cell] = value

    @property
    def values(self) -> Mapping[Cell, Datum]:
        """All cells that were ever set, without a note that somebody reads them."""
        return self._values


class Names(Mapping[str, Datum]):
    """The names that an expression of a node sees; some are looked up only when somebody asks."""

    def __init__(self, values: Mapping[str, Datum] | None = None) -> None:
        self._values: dict[str, Datum] = dict(values._values if isinstance(values, Names) else values or {})

    def later(self, name: str, look_up: Callable[[], Datum]) -> None:
        self._values[name] = _Later(look_up)

    def set(self, name: str, value: Datum) -> None:
        self._values[name] = value

    def __getitem__(self, name: str) -> Datum:
        value = self._values[name]
        if isinstance(value, _Later):
            value = self._values[name] = value.look_up()
        return value

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __contains__(self, name: object) -> bool:
        return name in self._values


class _Later(Struct, frozen=True):
    look_up: Callable[[], Datum]
