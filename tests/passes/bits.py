"""What passes are held to: the same results, bit for bit."""

from __future__ import annotations

import pickle
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from whorl.errors import RunError
from whorl.ir.graph import Module
from whorl.passes.context import PassOptions
from whorl.passes.pipeline import optimize
from whorl.runtime.interpreter.plan import Plan
from whorl.runtime.interpreter.step import Run
from whorl.runtime.limits import Budget, Limits


def copied(module: Module) -> Module:
    """A module that shares nothing with the original."""
    return pickle.loads(pickle.dumps(module))


def optimized(module: Module, **options: Any) -> Module:
    """A copy of a module after all passes, verified on the way."""
    copy = copied(module)
    optimize(copy, PassOptions(verify=True, **options))
    return copy


def interpreted(module: Module, feeds: Mapping[str, Any]) -> list[Any] | None:
    """The results as the interpreter gives them; None where it fails."""
    run = Run(Budget(Limits(), lambda: False))
    try:
        with np.errstate(all="ignore"):
            return Plan(module.main)(run, *(feeds[value.name] for value in module.main.arguments))
    except RunError:
        return None


def assert_same_bits(expected: Sequence[Any] | None, actual: Sequence[Any] | None) -> None:
    """Equal types, shapes and elements: NaN equals NaN, 0 is not -0."""
    assert (expected is None) == (actual is None)
    for a, b in zip(expected or (), actual or (), strict=True):
        assert isinstance(b, np.ndarray) and (a.dtype, a.shape) == (b.dtype, b.shape), (a, b)
        if a.dtype.kind in "iubO":
            np.testing.assert_array_equal(b, a)
            continue
        wide, other = a.astype(np.float64), b.astype(np.float64)
        np.testing.assert_array_equal(other, wide)
        zeros = wide == 0
        np.testing.assert_array_equal(np.signbit(other[zeros]), np.signbit(wide[zeros]))
