"""How rows lie in one run of a model: along its own axis for rows, along an axis of `vmap`, or one row a run.

Rows may share a run only where they do not meet in it. That an axis is called by a name does not say so, and a model
may sum over it: `score` compares some rows together with the same rows alone (`batches.py`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, Protocol

import numpy as np
from msgspec import Struct

from whorl.api.options import RunOptions
from whorl.api.session import InferenceSession
from whorl.errors import RunError
from whorl.scoring.mapping import Feeding

Kind = Literal["axis", "vmap", "rows"]
SENTENCES = {
    "axis": "along the model's own axis",
    "vmap": "along an axis of vmap",
    "rows": "one row a run",
    "batch": "as parameter sets of a simulation",
}


class Runs(Protocol):
    """What computes rows: a layout of a session, or of a simulation."""

    @property
    def kind(self) -> str: ...
    @property
    def feeding(self) -> Feeding: ...
    @property
    def outputs(self) -> tuple[str, ...]: ...
    @property
    def length(self) -> int | None: ...

    def run(self, feeds: Mapping[str, np.ndarray], count: int, options: RunOptions | None) -> list[Any]:
        """The outputs for so many rows, which lie on the first axis of feeds and of outputs."""
        ...


class Layout(Struct, frozen=True):
    """How rows lie in a run.

    `squeezed` are outputs whose own axis for rows has the length 1 in it, `length` is the number of rows that the
    model's axis has, where that is fixed, `has_all` says that the outputs are all that the model has, in its order.
    """

    kind: Kind
    session: InferenceSession
    feeding: Feeding
    outputs: tuple[str, ...]
    squeezed: frozenset[str] = frozenset()
    length: int | None = None
    has_all: bool = False

    def run(self, feeds: Mapping[str, np.ndarray], count: int, options: RunOptions | None) -> list[Any]:
        """The outputs for so many rows, which lie on the first axis of feeds and of outputs."""
        match self.kind:
            case "axis":
                return self._run_axis(feeds, count, options)
            case "vmap":
                values = self._run_session(self._with_axes(feeds, axis=1), options)
                return self._without_axes(values, axis=1)
            case "rows":
                rows = [self._run_row(feeds, row, options) for row in range(count)]
                return [
                    _stack(values, name) for name, values in zip(self.outputs, zip(*rows, strict=True), strict=True)
                ]

    def _run_axis(self, feeds: Mapping[str, np.ndarray], count: int, options: RunOptions | None) -> list[Any]:
        missing = 0 if self.length is None else self.length - count
        if missing:
            feeds = {name: np.concatenate([rows, np.repeat(rows[-1:], missing, 0)]) for name, rows in feeds.items()}
        shared = self.feeding.shared
        values = self._run_session({**feeds, **shared} if shared else dict(feeds), options)
        for name, value in zip(self.outputs, values, strict=True):
            if len(value) != count + missing:
                fix = "choose other outputs, or score rows one by one (batch 1)"
                raise RunError(f"output {name!r} has {len(value)} rows for {count + missing}", fix=fix)
        return [value[:count] for value in values] if missing else values

    def _run_row(self, feeds: Mapping[str, np.ndarray], row: int, options: RunOptions | None) -> list[Any]:
        own = self._with_axes({name: rows[row] for name, rows in feeds.items()}, axis=0)
        return self._without_axes(self._run_session(own, options), axis=0)

    def _run_session(self, feeds: dict[str, Any], options: RunOptions | None) -> list[Any]:
        """The outputs of a run; to look up their names is a good part of what a short one takes."""
        return self.session.run(None if self.has_all else self.outputs, feeds, options)

    def _with_axes(self, feeds: Mapping[str, Any], axis: int) -> dict[str, Any]:
        """Rows of inputs whose own axis for rows then has the length 1."""
        own = {each.name for each in self.feeding.bound if each.has_axis}
        spread = {name: np.expand_dims(_tensor(rows), axis) if name in own else rows for name, rows in feeds.items()}
        return spread | self.feeding.shared

    def _without_axes(self, values: list[Any], axis: int) -> list[Any]:
        return [
            self._squeeze(value, name, axis) if name in self.squeezed else value
            for name, value in zip(self.outputs, values, strict=True)
        ]

    def _squeeze(self, value: Any, name: str, axis: int) -> Any:
        length = value.shape[axis] if isinstance(value, np.ndarray) else len(value)
        if length != 1:
            raise RunError(f"output {name!r} has {length} rows for one", fix="choose other outputs")
        return value.squeeze(axis) if isinstance(value, np.ndarray) else value[0]


def _tensor(row: Any) -> np.ndarray:
    """A row as an array, also one that is a string."""
    return row if isinstance(row, np.ndarray) else np.array(row, object) if isinstance(row, str) else np.asarray(row)


def _stack(values: tuple[Any, ...], name: str) -> Any:
    if not all(isinstance(value, np.ndarray) for value in values):
        return list(values)
    if len({value.shape for value in values}) > 1:
        raise RunError(f"output {name!r} has several shapes for rows of one shape", fix="score with batches of 1")
    return np.stack(values) if values[0].dtype != object else _stack_strings(values)


def _stack_strings(values: tuple[Any, ...]) -> np.ndarray:
    stacked = np.empty((len(values), *values[0].shape), object)
    for row, value in enumerate(values):
        stacked[row] = value
    return stacked
