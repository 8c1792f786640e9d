"""Functions that an exporter is tried on: their arguments, with open dims by name, and a table of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

LENGTHS: dict[str, Sequence[int]] = {"n": (1, 3, 8), "m": (4, 1, 6)}
"""How long open dims are, shape by shape, where a case says nothing else."""


@dataclass(frozen=True)
class Argument:
    """What an argument holds: dims by number or, where open, by name; and how it is drawn."""

    dims: tuple[int | str, ...]
    draw: Callable[[np.random.Generator, tuple[int, ...]], np.ndarray]


def floats(*dims: int | str, dtype: Any = np.float32) -> Argument:
    return Argument(dims, lambda rng, shape: rng.standard_normal(shape).astype(dtype))


def integers(low: int, high: int, *dims: int | str, dtype: Any = np.int64) -> Argument:
    """Numbers from `low` to `high - 1`."""
    return Argument(dims, lambda rng, shape: rng.integers(low, high, shape).astype(dtype))


def booleans(*dims: int | str) -> Argument:
    return Argument(dims, lambda rng, shape: rng.random(shape) < 0.5)


def positions(length: int, *dims: int | str, dtype: Any = np.int64) -> Argument:
    """Distinct positions along an axis."""
    return Argument(dims, lambda rng, shape: rng.permutation(length)[: math.prod(shape)].reshape(shape).astype(dtype))


@dataclass(frozen=True)
class Case:
    """A function, or what makes a network, with its arguments and the ways of export that are for it."""

    make: Callable[[], Any]
    arguments: tuple[Argument, ...]
    exporters: tuple[str, ...]
    lengths: dict[str, Sequence[int]]
    amplification: float = 1.0

    @property
    def shapes(self) -> list[dict[str, int]]:
        """The lengths of the open dims in each of three shapes."""
        return [{name: lengths[k] for name, lengths in self.lengths.items()} for k in range(3)]

    def arrays(self, lengths: dict[str, int], rng: np.random.Generator) -> list[np.ndarray]:
        """Arguments with these lengths of open dims."""
        shapes = [tuple(lengths[d] if isinstance(d, str) else d for d in a.dims) for a in self.arguments]
        return [np.array(a.draw(rng, shape)) for a, shape in zip(self.arguments, shapes, strict=True)]


@dataclass
class Table:
    """Cases by the names of their functions."""

    exporters: str
    cases: dict[str, Case] = field(default_factory=dict)

    def function(self, *arguments: Argument, by: str = "", **more: Any) -> Callable[[Any], Any]:
        """Add the function that follows; `more` are the lengths of open dims, and `amplification`."""
        return lambda function: self._add(function, lambda: function, arguments, by, more)

    def network(self, *arguments: Argument, by: str = "", **more: Any) -> Callable[[Any], Any]:
        """Add the network that the function that follows returns."""
        return lambda make: self._add(make, make, arguments, by, more)

    def _add(self, named: Any, make: Any, arguments: tuple[Argument, ...], by: str, more: dict[str, Any]) -> Any:
        amplification = more.pop("amplification", 1.0)
        self.cases[named.__name__] = Case(
            make, arguments, tuple((by or self.exporters).split()), LENGTHS | more, amplification
        )
        return named
