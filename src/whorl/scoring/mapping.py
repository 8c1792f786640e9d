"""Which columns feed which inputs: by name, by a map, several columns as one tensor, or values for all rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from msgspec import Struct

from whorl.errors import RunError
from whorl.ir.graph import Module
from whorl.ir.types import TensorType, Type
from whorl.runtime.feeds import check_value
from whorl.scoring.columns import rank_of

Columns = str | Sequence[str]
SHOWN = 8
"""Names of columns that an error lists."""


class Bound(Struct, frozen=True):
    """An input that differs by row: its type, the columns it comes from, and the axes that a row of them has."""

    name: str
    type: TensorType
    columns: tuple[str, ...]
    rank: int

    @property
    def has_axis(self) -> bool:
        """Whether the input has an axis for rows, before those of a row."""
        return self.type.rank == self.rank + 1

    @property
    def is_stacked(self) -> bool:
        """Whether several columns of numbers lie side by side in it."""
        return len(self.columns) > 1


class Feeding(Struct, frozen=True):
    """The inputs that differ by row, and the values that all rows share."""

    bound: tuple[Bound, ...]
    shared: dict[str, Any]

    @property
    def columns(self) -> list[str]:
        """The columns that a run reads."""
        return list(dict.fromkeys(column for each in self.bound for column in each.columns))


def map_columns(
    module: Module, schema: Any, columns: Mapping[str, Columns] | None, shared: Mapping[str, Any] | None
) -> Feeding:
    """How a table of an Arrow schema feeds a model. Errors: RunError for inputs without a column."""
    types = {value.name: value.type for value in module.main.arguments}
    chosen, values = dict(columns or {}), dict(shared or {})
    for name in (*chosen, *values):
        if name not in types:
            raise RunError(f"the model has no input {name!r}", fix=f"choose from {', '.join(types) or 'none'}")
    if module.states:
        what = f"state {module.states[0].name!r} lasts from one row to the next"
        raise RunError(what, fix="score a model whose rows are independent")
    bound = []
    for name, type in types.items():
        if name in values:
            values[name] = check_value(values[name], type, f"input {name!r}")
        elif name in chosen or name in schema.names:
            bound.append(_bind(name, type, chosen.get(name, name), schema))
        elif name not in module.defaults:
            fix = f"map it to a column ({_listed(schema.names)}), or give one value for all rows"
            raise RunError(f"no column is called as input {name!r} ({type})", fix=fix)
    if not bound:
        raise RunError("no input takes a column", fix=f"map one of {_listed(types)} to a column")
    return Feeding(tuple(bound), values)


def _bind(name: str, type: Type, columns: Columns, schema: Any) -> Bound:
    if not isinstance(type, TensorType) or type.rank is None:
        raise RunError(f"input {name!r} is {type}, and columns feed tensors of a known rank", fix="give it one value")
    names = (columns,) if isinstance(columns, str) else tuple(columns)
    for column in names:
        if column not in schema.names:
            raise RunError(f"there is no column {column!r} for input {name!r}", fix=f"columns: {_listed(schema.names)}")
    ranks = {column: rank_of(schema.field(column).type) for column in names}
    lists = [column for column, rank in ranks.items() if rank]
    if len(names) > 1 and lists:
        raise RunError(
            f"column {lists[0]!r} has lists, and input {name!r} joins columns of numbers", fix="map it alone"
        )
    rank = ranks[names[0]] if len(names) == 1 else 1
    if type.rank not in (rank, rank + 1):
        what = f"a row for input {name!r} has {rank} axes, and the input is {type}"
        raise RunError(what, fix=f"give rows of {type.rank} axes, or {type.rank - 1} where one is for rows")
    return Bound(name, type, names, rank)


def _listed(names: Any) -> str:
    names = list(names)
    return ", ".join(names[:SHOWN]) + (", ..." if len(names) > SHOWN else "") or "none"


def stack(columns: Sequence[np.ndarray]) -> np.ndarray:
    """Columns of numbers side by side."""
    return np.stack(columns, axis=1)
