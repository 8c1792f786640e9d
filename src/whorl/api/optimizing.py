"""Optimising models: what follows from constants is computed once, in bounded memory, and what is not needed goes."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterable
from pathlib import Path

from whorl.api.deadlines import within
from whorl.api.models import Source, load_module
from whorl.formats.collector import collector_paused
from whorl.formats.onnx.files import load_onnx
from whorl.formats.onnx.frame import MAX_DEPTH, LoadOptions
from whorl.ir.graph import Module
from whorl.ir.walk import clone_region
from whorl.passes import pipeline
from whorl.passes.context import Context, PassOptions
from whorl.passes.report import Report


def optimize(
    source: Source,
    *,
    fast_math: bool = False,
    expansion_bound: float | None = None,
    memory_budget: int | None = None,
    disk_budget: int | None = None,
    only: Iterable[str] = (),
    disabled: Iterable[str] = (),
    limit: int | None = None,
    condition_when_omitted: str = "specification",
    max_depth: int = MAX_DEPTH,
    compat: str = "",
    timeout: float | None = None,
    report: Report | None = None,
) -> Module:
    """A better module that computes the same, bit for bit, from whatever `load` takes, which is left as it is.

    Constants are folded, inside loops and branches too, the algebra of ops is simplified, equal values are merged,
    dead ones removed. `fast_math` also regroups floats, which changes last bits. `expansion_bound`: a folded constant
    may have so many times the bytes of its operands; without it, ops stay whose results would make the model much
    larger. `memory_budget`: bytes of constants in memory, the rest goes to temporary files; `disk_budget`: bytes of
    those, by default a quarter of what is free. `only`, `disabled`: names of passes, and of rules and ops for the
    latter. `limit`: edits after which to stop. `timeout`: seconds allowed. A `report` is filled in. A file that is read
    must not change while the module is used. Errors: LoadError, UnsupportedError, TimeLimitError.
    """
    options = PassOptions(
        fast_math, expansion_bound, memory_budget, disk_budget, frozenset(disabled), tuple(only), limit
    )
    context = Context(None, options, report if report is not None else Report())
    pipeline.check_names(options)
    load = LoadOptions(condition_when_omitted, max_depth, True)
    return within(timeout, "optimizing", _optimized, source, load, compat, context)


def _optimized(source: Source, load: LoadOptions, compat: str, context: Context) -> Module:
    if isinstance(source, str | os.PathLike) and Path(source).suffix == ".onnx":
        folding = context if pipeline.is_chosen(pipeline.fold_constants, context.options) else None
        with collector_paused():
            module = load_onnx(source, dataclasses.replace(load, context=folding))
    else:
        module = load_module(
            source, condition_when_omitted=load.condition_when_omitted, max_depth=load.max_depth, compat=compat
        )
        module = dataclasses.replace(module, main=clone_region(module.main))
    pipeline.optimize(module, context=context)
    return module
