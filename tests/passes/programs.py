"""Programs before and after the passes: the text that must come out, and results that must not change."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from passes.bits import assert_same_bits, interpreted, optimized
from passes.random_programs import special

from whorl.ir.dims import substitute
from whorl.ir.dtypes import INT64
from whorl.ir.graph import Module, Value
from whorl.ir.infer import Inference
from whorl.ir.parse import parse_module
from whorl.ir.text import print_module
from whorl.ir.types import TensorType
from whorl.passes.context import PassOptions
from whorl.passes.pipeline import optimize
from whorl.passes.report import Report

NAMED = {"N": 2, "M": 3}
RUNS = 4


@dataclass(frozen=True)
class Case:
    """A program, what the passes make of it, and the options they are given."""

    before: str
    after: str
    options: dict[str, Any] = field(default_factory=dict)


def read(text: str) -> Module:
    """A program with the types and known elements that inference gives."""
    module = parse_module(text)
    Inference().region(module.main)
    return module


def check(case: Case) -> None:
    """The passes give the text, and the program gives what it gave: every bit, or nearly with `fast_math`."""
    module = read(case.before)
    actual = optimized(module, **case.options)
    assert print_module(actual).strip() == case.after.strip()
    rng = np.random.default_rng(0)
    is_exact = not case.options.get("fast_math")
    for _ in range(RUNS):
        feeds = {value.name: _feed(value, rng, is_exact) for value in module.main.arguments}
        expected, results = interpreted(module, feeds), interpreted(actual, feeds)
        if is_exact:
            assert_same_bits(expected, results)
        else:
            for a, b in zip(expected or (), results or (), strict=True):
                np.testing.assert_allclose(b, a, rtol=1e-5, atol=1e-5)


def report_of(text: str, **options: Any) -> Report:
    """What the passes report of a program."""
    return optimize(read(text), PassOptions(verify=True, **options))


def _feed(value: Value, rng: np.random.Generator, is_exact: bool) -> np.ndarray:
    """An array for an argument; int64 serves as counts and indices."""
    assert isinstance(value.type, TensorType) and isinstance(value.type.shape, tuple)
    shape = tuple(substitute(dim, NAMED) for dim in value.type.shape)  # type: ignore[arg-type]
    if value.type.dtype == INT64:
        return rng.integers(0, 3, shape)
    if not is_exact:
        return rng.standard_normal(shape).astype(value.type.dtype)
    return special(rng, value.type.dtype, shape)  # type: ignore[arg-type]
