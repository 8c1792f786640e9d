"""The points of a sweep: all combinations of some values, or samples of ranges, as text, as data and as a table."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, get_args

import numpy as np
from msgspec import Struct

from whorl.errors import RunError
from whorl.scoring.packages import arrow

Method = Literal["random", "latin", "sobol"]
KEYS = "grid", "random", "points", "method", "seed"
"""What the data of a design has; a file may have more beside it."""


class Range(Struct, frozen=True):
    """The numbers between two ends; a `log` range has as many in each decade."""

    low: float
    high: float
    log: bool = False

    def at(self, parts: np.ndarray, is_whole: bool) -> np.ndarray:
        """The numbers at parts of the way, which are from 0 to 1; whole ones include both ends."""
        if self.log:
            return np.exp(math.log(self.low) + parts * (math.log(self.high) - math.log(self.low)))
        if is_whole:
            return np.minimum(np.floor(self.low + parts * (self.high - self.low + 1)), self.high).astype(np.int64)
        return self.low + parts * (self.high - self.low)


class Design(Struct, frozen=True):
    """Points: each combination of the values of `grid`, with each of `points` samples of the ranges of `random`."""

    grid: dict[str, list[Any]] = {}
    random: dict[str, Range] = {}
    points: int = 0
    method: Method = "random"
    seed: int = 0

    @property
    def names(self) -> list[str]:
        """What differs by point."""
        return [*self.grid, *self.random]

    @property
    def shape(self) -> tuple[int, ...]:
        """How many values each axis of the grid has, and how many samples there are."""
        return (*(len(values) for values in self.grid.values()), *((self.points,) if self.random else ()))

    def table(self, whole: frozenset[str] = frozenset()) -> Any:
        """The points as a table of Arrow; `whole` are the names whose numbers are integers."""
        columns = {name: _integers(values) if name in whole else values for name, values in self.grid.items()}
        samples = self._samples(whole)
        rows = itertools.product(*columns.values(), range(self.points if self.random else 1))
        combined = list(zip(*rows, strict=True))
        table = {name: arrow().array(list(column)) for name, column in zip(columns, combined, strict=False)}
        chosen = np.array(combined[-1], np.int64)
        return arrow().table(table | {name: arrow().array(values[chosen]) for name, values in samples.items()})

    def _samples(self, whole: frozenset[str]) -> dict[str, np.ndarray]:
        if not self.random:
            return {}
        if self.method == "random":
            parts = np.random.default_rng(self.seed).random((self.points, len(self.random)))
        else:
            parts = self._spread_out(len(self.random))
        return {name: each.at(parts[:, k], name in whole) for k, (name, each) in enumerate(self.random.items())}

    def _spread_out(self, count: int) -> np.ndarray:
        from scipy.stats import qmc  # takes two seconds, which other designs need not wait for

        if self.method == "latin":
            return qmc.LatinHypercube(count, rng=self.seed).random(self.points)
        sampler = qmc.Sobol(count, rng=self.seed)
        return sampler.random_base2(math.ceil(math.log2(self.points)))[: self.points]


def _integers(values: list[Any]) -> list[Any]:
    return [int(value) if isinstance(value, float) and value.is_integer() else value for value in values]


def design_of(data: Mapping[str, Any]) -> Design:
    """The design that data says, as YAML or JSON has it. Errors: RunError names the entry.

    `grid`: a list of values by name, or {from, to, count}; `random`: {from, to} by name, with `log: true` for ranges
    over decades; `points`: the number of samples; `method`: "random", "latin" or "sobol"; `seed`.
    """
    for name in data.keys() - set(KEYS):
        raise RunError(f"a sweep has no {name!r}", fix=f"choose from {', '.join(KEYS)}")
    grid = {str(name): _values(entry, f"grid {name!r}") for name, entry in _mapping(data, "grid").items()}
    random = {str(name): _range(entry, f"random {name!r}") for name, entry in _mapping(data, "random").items()}
    method, points, seed = data.get("method", "random"), data.get("points", 0), data.get("seed", 0)
    if method not in get_args(Method):
        raise RunError(f"there is no method {method!r}", fix=f"choose from {', '.join(get_args(Method))}")
    if not grid and not random:
        raise RunError("a sweep needs values", fix="give a grid or random ranges")
    if not isinstance(points, int) or (points < 1) == bool(random):
        fix = "give the number of samples beside random ranges, and no other time"
        raise RunError(f"points is {points!r}", fix=fix)
    for name in grid.keys() & random.keys():
        raise RunError(f"{name!r} has both a grid and a random range", fix="choose one")
    return Design(grid, random, points, method, int(seed))


def _mapping(data: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    entries = data.get(name) or {}
    if not isinstance(entries, Mapping):
        raise RunError(f"{name} is {entries!r}, expected entries by name")
    return entries


def _values(entry: Any, what: str) -> list[Any]:
    if isinstance(entry, Mapping):
        count = entry.get("count")
        if not isinstance(count, int) or count < 1:
            raise RunError(f"{what} is {dict(entry)!r}, and needs a count", fix="write {from: 0, to: 1, count: 11}")
        each = _range({key: value for key, value in entry.items() if key != "count"}, what)
        return each.at(np.linspace(0, 1, count), False).tolist()
    if isinstance(entry, str) or not isinstance(entry, Iterable) or not (values := list(entry)):
        raise RunError(f"{what} is {entry!r}, expected a list of values, or from, to and count")
    return [value.tolist() if hasattr(value, "tolist") else value for value in values]


def _range(entry: Any, what: str) -> Range:
    fix = "write {from: 0, to: 1}, with log: true for a range over decades"
    if not isinstance(entry, Mapping) or entry.keys() - {"from", "to", "log"}:
        raise RunError(f"{what} is {entry!r}, expected from and to", fix=fix)
    try:
        low, high, log = float(entry["from"]), float(entry["to"]), bool(entry.get("log", False))
    except (KeyError, TypeError, ValueError):
        raise RunError(f"{what} is {dict(entry)!r}, expected from and to", fix=fix) from None
    if not low <= high or not math.isfinite(high - low) or (log and low <= 0):
        raise RunError(f"{what} goes from {low} to {high}", fix="order the ends; those of a log range are above 0")
    return Range(low, high, log)


def read_values(text: str) -> Any:
    """The values of `--grid name=...`: `0:1:11` are eleven from 0 to 1, `1,2,5` are those. Errors: RunError."""
    ends = text.split(":")
    try:
        if len(ends) == 3:
            return {"from": float(ends[0]), "to": float(ends[1]), "count": int(ends[2])}
        return [float(each) if _is_number(each) else each for each in text.split(",")]
    except ValueError:
        raise RunError(f"{text!r} is no grid", fix="write from:to:count, or values between commas") from None


def read_range(text: str) -> Any:
    """The range of `--random name=...`: `0:1`, or `0.01:10:log`. Errors: RunError."""
    ends = text.split(":")
    if not 2 <= len(ends) <= 3 or not all(_is_number(each) for each in ends[:2]) or ends[2:] not in ([], ["log"]):
        raise RunError(f"{text!r} is no range", fix="write from:to, or from:to:log")
    return {"from": float(ends[0]), "to": float(ends[1]), "log": len(ends) == 3}


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def coordinates(design: Design, table: Any) -> dict[str, Sequence[Any]]:
    """The values along each axis of a grid without samples; none for other designs."""
    if design.random or any(isinstance(value, list) for values in design.grid.values() for value in values):
        return {}
    return {name: list(dict.fromkeys(table.column(name).to_pylist())) for name in design.grid}
