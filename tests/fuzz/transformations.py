"""Every transformation of loops and branches, each as a function from a module to one that computes the same."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import whorl
from whorl.ir.graph import Module
from whorl.passes.context import Context, PassOptions
from whorl.passes.pipeline import PASSES
from whorl.passes.unroll.control_flow import unroll_control_flow
from whorl.passes.vectorize.control_flow import vectorize_control_flow
from whorl.passes.vectorize.trip_counts import count_iterations

Feeds = dict[str, Any]
Transformation = Callable[[Module, Feeds], Module]
ITERATIONS = 64
"""Copies of a body that unrolling may make."""


def _pass(name: str, module: Module, feeds: Feeds) -> Module:
    return whorl.optimize(module, only=[name])


def _vectorize(module: Module, feeds: Feeds) -> Module:
    module = _pass("dce", module, feeds)
    vectorize_control_flow(module, Context(module, PassOptions()))
    return module


def _count(module: Module, feeds: Feeds) -> Module:
    module = _pass("dce", module, feeds)
    count_iterations(module, Context(module, PassOptions()))
    return module


def _pay(module: Module, feeds: Feeds) -> Module:
    """Without what onnxruntime is slower at."""
    return whorl.deloop(module, partial=True)


def _unroll(module: Module, feeds: Feeds) -> Module:
    module = _pass("dce", module, feeds)
    unroll_control_flow(module, Context(module, PassOptions()), ITERATIONS)
    return module


def _bind(module: Module, feeds: Feeds) -> Module:
    """Without what numbers of iterations may be: inputs of one whole number or truth value are fixed."""
    fixed = {name: x for name, x in feeds.items() if isinstance(x, np.ndarray) and x.size == 1 and x.dtype.kind in "ib"}
    return whorl.deloop(module, inputs=fixed, partial=True, target="any")


def together(module: Module, feeds: Feeds) -> Module:
    """All of them, one after the other."""
    return whorl.optimize(whorl.deloop(whorl.optimize(module), partial=True, target="any"))


TRANSFORMATIONS: dict[str, Transformation] = {
    **{each.__name__: partial(_pass, each.__name__) for each in PASSES},
    "vectorize": _vectorize,
    "count": _count,
    "pay": _pay,
    "unroll": _unroll,
    "bind": _bind,
    "together": together,
}
