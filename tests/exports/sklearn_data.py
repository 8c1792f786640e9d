"""What scikit-learn's estimators learn from, and the rows that they are asked about afterwards."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

COLUMNS = 5
TRAINING_ROWS = 120
WORDS = np.array(["red", "green", "blue", "a long word", "ß"], object)
SENTENCE = ["the", "cat", "sat", "on", "a", "mat", "and", "the", "dog", "ran", "from", "it", "to", "that", "old", "mat"]

Draw = Callable[[int, np.random.Generator], np.ndarray]


def normal(rows: int, rng: np.random.Generator) -> np.ndarray:
    return rng.standard_normal((rows, COLUMNS))


def positive(rows: int, rng: np.random.Generator) -> np.ndarray:
    return rng.uniform(0.5, 3, (rows, COLUMNS))


def counts(rows: int, rng: np.random.Generator) -> np.ndarray:
    return rng.integers(0, 4, (rows, COLUMNS)).astype(np.float64)


def holes(rows: int, rng: np.random.Generator) -> np.ndarray:
    """A fourth of the numbers is missing, but never a whole row: those skl2onnx's imputer by neighbours has wrong."""
    x = rng.standard_normal((rows, COLUMNS))
    missing = rng.random(x.shape) < 0.25
    missing[np.arange(rows), rng.integers(0, COLUMNS, rows)] = False
    x[missing] = np.nan
    return x


def words(rows: int, rng: np.random.Generator) -> np.ndarray:
    return rng.choice(WORDS, (rows, 2))


def word(rows: int, rng: np.random.Generator) -> np.ndarray:
    return rng.choice(WORDS, rows)


def texts(rows: int, rng: np.random.Generator) -> np.ndarray:
    """Rows of 1 to 12 words between spaces."""
    return np.array([" ".join(rng.choice(SENTENCE, rng.integers(1, 13))) for _ in range(rows)], object)


def numbers_of(x: np.ndarray) -> np.ndarray:
    """Columns that stand for the rows in targets, with 0 where a number is missing."""
    if x.dtype == object:
        return np.array([[len(str(row)), hash_of(str(row)) % 7] for row in x], np.float64)
    return np.nan_to_num(x)


def hash_of(text: str) -> int:
    """Not `hash`, which differs between processes."""
    return sum((k + 1) * ord(letter) for k, letter in enumerate(text))


def target(x: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """A number a row: a bent function of the columns, and noise."""
    z = numbers_of(x)
    return z @ np.linspace(1, -1, z.shape[1]) + 0.5 * z[:, 0] ** 2 + 0.1 * rng.standard_normal(len(z))


def positive_target(x: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return np.exp(np.tanh(target(x, rng)))


def targets(x: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Three numbers a row."""
    return np.stack([target(x, rng), target(x[:, ::-1], rng), target(x**2, rng)], axis=1)


def _parts(x: np.ndarray, rng: np.random.Generator, count: int) -> np.ndarray:
    y = target(x, rng)
    return np.digitize(y, np.quantile(y, np.linspace(0, 1, count + 1)[1:-1]))


def two_classes(x: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return _parts(x, rng, 2)


def three_classes(x: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return _parts(x, rng, 3)


def named_classes(x: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return np.array(["low", "middle", "high"])[_parts(x, rng, 3)]


def several_labels(x: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Two classifications a row."""
    return np.stack([_parts(x, rng, 3), _parts(x[:, ::-1], rng, 2)], axis=1)


def nothing(x: np.ndarray, rng: np.random.Generator) -> None:
    return None
