"""An MDF model simulated for many points at once, in the form that rows of a table are computed in."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np
from msgspec import Struct

from whorl.api.options import RunOptions
from whorl.errors import RunError, WhorlError
from whorl.formats.mdf.model import MdfModel
from whorl.ir.dtypes import FLOAT64
from whorl.ir.types import TensorType
from whorl.scoring.columns import arrow_type, rank_of, read_column
from whorl.scoring.mapping import Bound, Feeding
from whorl.scoring.packages import arrow
from whorl.scoring.rows import Scorer

TRIED = 8
"""Points of which one must run, for the shapes of records."""


class SimulationLayout(Struct, frozen=True):
    """Points as parameter sets of a simulation, which records values over time, or their last ones alone."""

    model: MdfModel
    feeding: Feeding
    outputs: tuple[str, ...]
    steps: int
    dt: float | None
    seed: int
    last: bool
    kind: str = "batch"
    length: int | None = None

    def run(self, feeds: Mapping[str, np.ndarray], count: int, options: RunOptions | None) -> list[Any]:
        """The records of so many points, on the first axis. Draws of points differ, also between batches."""
        drawn = (self.seed + zlib.crc32(b"".join(rows[:1].tobytes() for rows in feeds.values()))) % 2**62
        shared = self.feeding.shared
        result = self.model.simulate(
            self.steps, self.dt, record=self.outputs, batch=dict(feeds), initial=shared, seed=drawn
        )
        return [result[name][:, -1] if self.last else result[name] for name in self.outputs]


def simulation_scorer(
    model: MdfModel,
    table: Any,
    steps: int,
    dt: float | None,
    record: tuple[str, ...] | None,
    initial: Mapping[str, Any] | None = None,
    *,
    seed: int = 0,
    last: bool = False,
) -> Scorer:
    """What simulates the points of a table, whose columns are parameters, initial values and input ports.

    Errors: RunError for names that the model does not have, or where none of the first points runs.
    """
    names = table.column_names
    bound = tuple(_bound(name, table) for name in names)
    outputs = tuple(model.recorded(record))
    layout = SimulationLayout(model, Feeding(bound, dict(initial or {})), outputs, steps, dt, seed, last)
    return Scorer(layout, _results(layout, table), 1, tuple(names), "null")


def _bound(name: str, table: Any) -> Bound:
    rank = rank_of(table.schema.field(name).type)
    lengths = read_column(table.column(name), name).shapes
    shape = tuple(lengths[0].tolist()) if len(lengths) else (0,) * rank
    return Bound(name, TensorType(FLOAT64, shape), (name,), rank)


def _results(layout: SimulationLayout, table: Any) -> Any:
    """The columns of the records, by a run of one point; a record of what differs by point has a name of its own."""
    failure: WhorlError = RunError("a sweep needs points")
    for row in range(min(TRIED, table.num_rows)):
        columns = {name: read_column(table.column(name).slice(row, 1), name) for name in table.column_names}
        feeds = {
            name: column.take(np.zeros(1, np.int64), tuple(column.shapes[0].tolist())).astype(np.float64)
            for name, column in columns.items()
        }
        try:
            values = layout.run(feeds, 1, None)
        except WhorlError as error:
            failure = error
            continue
        fields = zip(layout.outputs, values, strict=True)
        suffix = ".last" if layout.last else ".recorded"
        named = [(f"{name}{suffix}" if name in table.column_names else name, value) for name, value in fields]
        return arrow().schema([(name, arrow_type(TensorType(v.dtype, v.shape), name, 1)) for name, v in named])
    raise failure
