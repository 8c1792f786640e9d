"""Names for expressions, and their value by NumPy and by nodes of the hub."""

import numpy as np

from whorl.ir.build import Builder
from whorl.ir.dtypes import FLOAT64
from whorl.ir.graph import Module, Region
from whorl.ir.infer import Inference
from whorl.ir.types import UNRANKED, TensorType
from whorl.mdf.expressions.arrays import evaluate
from whorl.mdf.expressions.nodes import emit
from whorl.mdf.expressions.syntax import parse
from whorl.runtime.session import Session

RANDOM = np.random.default_rng(7)

NAMES = {
    "a": 2.5,
    "b": -3.0,
    "x": RANDOM.normal(size=7) * 3,
    "y": RANDOM.normal(size=7),
    "M": RANDOM.normal(size=(7, 7)),
    "z": np.array([0.0, -0.0, 1, -1, 5.5, np.inf, np.nan]),
}


def value(text, collapse=False, **names):
    return evaluate(parse(text, "here", names), names, collapse)


def computed(text, names=NAMES, ranked=True):
    """The value by nodes of the hub, interpreted."""
    region = Region("main")
    arguments = {
        name: region.add_argument(name, TensorType(FLOAT64, np.shape(passed) if ranked else UNRANKED))
        for name, passed in names.items()
    }
    region.results = [emit(parse(text, "here", names), arguments, Builder(region, Inference(set())))]
    feeds = {name: np.asarray(passed, float) for name, passed in names.items()}
    return Session(Module(region, ["out"]), backend="interpreter").execute(None, feeds)[0]


def assert_same_bits(text):
    """Nodes of the hub give the bits of NumPy."""
    expected = np.asarray(value(text, **NAMES))
    result = computed(text)
    assert result.shape == expected.shape
    np.testing.assert_array_equal(result.astype(float).view(np.int64), expected.astype(float).view(np.int64))
