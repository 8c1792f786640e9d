"""Drawing the elements of an operand, as its form asks for them."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from fuzz.forms import numpy_type, size
from whorl.ir.dtypes import BOOL, STRING, is_float

Rng = np.random.Generator
Shape = tuple[int, ...]
WORDS = ("", "a", "b", "tree", "Straße", "0", "a ", "\N{SNOWMAN}", "A", "b")
SPECIAL = (np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0)


def draw(rng: Rng, dtype: str, shape: Shape, how: str, lengths: Mapping[str, int], specials: float) -> np.ndarray:
    """An array; `specials` is the share of NaN, infinities and extremes where any element will do."""
    kind, _, rest = how.partition(" ")
    type = numpy_type(dtype)
    match kind:
        case "":
            return wild(rng, type, shape, specials)
        case "tame":
            return tame(rng, type, shape, specials)
        case "finite":
            return tame(rng, type, shape, 0.0)
        case "index":
            length = size(rest, lengths)
            low = -length if rng.random() < 0.5 and type.kind == "i" else 0
            return rng.integers(low, max(length, low + 1), shape).astype(type)
        case "lengths":
            values = [size(dim, lengths) for dim in rest.split()]
            return np.broadcast_to(np.array(values, type).reshape(-1 if shape else ()), shape).copy()
        case "is":
            values = np.array([float(v) if "." in v else int(v) for v in rest.split()]).astype(type)
            return np.broadcast_to(values.reshape(-1 if shape else ()), shape).copy()
    if kind in WITH_LENGTH:
        return WITH_LENGTH[kind](rng, size(rest, lengths), shape).astype(type)
    return NUMBERS[kind](rng, shape, type).astype(type)


def wild(rng: Rng, type: np.dtype, shape: Shape, share: float) -> np.ndarray:
    if type in (BOOL, STRING):
        return of_few(rng, type, shape)
    special = rng.random(shape) < share
    if is_float(type):
        with np.errstate(all="ignore"):
            return np.where(special, rng.choice(SPECIAL, shape), rng.standard_normal(shape) * 3).astype(type)
    limits = limits_of(type)
    extremes = rng.choice(np.array([limits[0], limits[1], limits[1] // 2], object), shape)
    return np.where(special, extremes, small_integers(rng, type, shape)).astype(type)


def tame(rng: Rng, type: np.dtype, shape: Shape, share: float) -> np.ndarray:
    """Numbers from -4 to 4; a few of the floats may be NaN or infinite."""
    if type in (BOOL, STRING):
        return of_few(rng, type, shape)
    if not is_float(type):
        return small_integers(rng, type, shape).astype(type)
    numbers = np.clip(rng.standard_normal(shape) * 1.5, -4, 4)
    with np.errstate(all="ignore"):
        return np.where(rng.random(shape) < share / 4, rng.choice(SPECIAL, shape), numbers).astype(type)


def of_few(rng: Rng, type: np.dtype, shape: Shape) -> np.ndarray:
    """Truth values, or words of which some come often and others once."""
    if type == BOOL:
        return rng.random(shape) < 0.5
    words = rng.choice(np.array(WORDS, object), shape)
    return np.where(rng.random(shape) < 0.1, rng.integers(0, 1000, shape).astype(str).astype(object), words)


def limits_of(type: np.dtype) -> tuple[int, int]:
    if type.kind in "iu":
        info = np.iinfo(type)
        return int(info.min), int(info.max)
    bits = int(type.name.lstrip("uint"))
    return (0, 2**bits - 1) if type.name.startswith("u") else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)


def small_integers(rng: Rng, type: np.dtype, shape: Shape) -> np.ndarray:
    low, high = limits_of(type)
    return rng.integers(max(low, -9), min(high, 9) + 1, shape).astype(object)


def _boxes(rng: Rng, shape: Shape, type: np.dtype) -> np.ndarray:
    corner, extent = rng.random((*shape[:-1], 2)) * 3, rng.random((*shape[:-1], 2)) * 4
    return np.concatenate([corner, corner + extent], -1)


def _shifts(rng: Rng, shape: Shape, type: np.dtype) -> np.ndarray:
    return rng.integers(0, type.itemsize * 8, shape)


def _factors(rng: Rng, shape: Shape, type: np.dtype) -> np.ndarray:
    actual = rng.choice([-1.0, 0.0, 1.0, 0.7, 1.2], shape, p=(0.2, 0.05, 0.35, 0.2, 0.2))
    return actual if is_float(type) else np.rint(actual if type.kind == "i" else abs(actual))


WITH_LENGTH: dict[str, Callable[[Rng, int, Shape], np.ndarray]] = {
    "below": lambda rng, n, shape: rng.integers(0, max(n, 1), shape),
    "length": lambda rng, n, shape: rng.integers(min(n, 1), n + 1, shape),
}
NUMBERS: dict[str, Callable[[Rng, Shape, np.dtype], np.ndarray]] = {
    "positive": lambda rng, shape, type: rng.integers(1, 7 if is_float(type) else 2, shape) + rng.random(shape),
    "unit": lambda rng, shape, type: rng.random(shape) * 1.9 - 0.95,
    "factor": _factors,
    "scale": lambda rng, shape, type: rng.choice([0.0625, 0.1, 0.5, 1.0, 2.0], shape),
    "shift": _shifts,
    "exponent": lambda rng, shape, type: rng.integers(0, 5, shape),
    "offset": lambda rng, shape, type: rng.integers(-4, 5, shape),
    "grid": lambda rng, shape, type: rng.random(shape) * 2.6 - 1.3,
    "box": _boxes,
    "distinct": lambda rng, shape, type: rng.permutation(int(np.prod(shape)) * 4)[: int(np.prod(shape))].reshape(shape),
    "yes": lambda rng, shape, type: np.ones(shape, bool),
    "no": lambda rng, shape, type: np.zeros(shape, bool),
    "either": lambda rng, shape, type: rng.random(shape) < 0.5,
}
