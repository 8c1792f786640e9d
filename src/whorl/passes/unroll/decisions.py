"""Which lengths decide an If: its condition, where it compares lengths of inputs, is known once they are."""

from __future__ import annotations

from collections.abc import Collection

from msgspec import Struct

from whorl.ir import dims
from whorl.ir.dims import Linear
from whorl.ir.graph import Node

LONGEST = 1 << 14
"""The greatest length that is tried."""


class Decision(Struct, frozen=True):
    """The lengths of one name for which an If takes its first branch; `most` is None where there is no end of them."""

    name: str
    fewest: int
    most: int | None

    def __str__(self) -> str:
        if self.most is None:
            return f"{self.name} >= {self.fewest}"
        if self.most == self.fewest:
            return f"{self.name} = {self.fewest}"
        return f"{self.fewest} <= {self.name} <= {self.most}"

    @property
    def example(self) -> int:
        """A length that decides it."""
        return max(self.fewest, 1) if self.most is None or self.most > 0 else 0


def decide_by_length(node: Node, names: Collection[str]) -> Decision | None:
    """What lengths of one name of an input decide of an If; None for no name, several, or where none changes it."""
    condition = node.inputs[0]
    form = (
        None if condition is None or condition.known is None or condition.known.size != 1 else condition.known.flat[0]
    )
    mentioned = dims.names_in(form) if isinstance(form, Linear) else set[str]()
    if not isinstance(form, Linear) or len(mentioned) != 1 or not mentioned <= set(names):
        return None
    (name,) = mentioned
    fewest = next((n for n in range(LONGEST) if _is_true_at(form, name, n)), None)
    if fewest is None:
        return None
    end = next((n for n in range(fewest, LONGEST) if not _is_true_at(form, name, n)), None)
    return Decision(name, fewest, None if end is None else end - 1)


def _is_true_at(form: Linear, name: str, length: int) -> bool:
    try:
        return bool(dims.evaluate(form, {name: length}))
    except ValueError:
        return False
