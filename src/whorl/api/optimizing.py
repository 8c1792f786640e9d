"""Optimising models: what follows from constants is computed once, in bounded memory, and what is not needed goes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Unpack

from msgspec.structs import replace

from whorl.api.deadlines import call_within
from whorl.api.models import HasModule, Source, load_module, options_of
from whorl.formats.options import LoadKeywords, LoadOptions
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
    timeout: float | None = None,
    report: Report | None = None,
    options: LoadOptions | None = None,
    **keywords: Unpack[LoadKeywords],
) -> Module:
    """A better module that computes the same, bit for bit, from whatever `load` takes, which is left as it is.

    Constants are folded, inside loops and branches too, the algebra of ops is simplified, equal values are merged,
    dead ones removed. `fast_math` also regroups floats, which changes last bits. `expansion_bound`: a folded constant
    may have so many times the bytes of its operands; without it, ops stay whose results would make the model much
    larger. `memory_budget`: bytes of constants in memory, the rest goes to temporary files; `disk_budget`: bytes of
    those, by default a quarter of what is free. `only`, `disabled`: names of passes, and of rules and ops for the
    latter. `limit`: edits after which to stop. `timeout`: seconds allowed. A `report` is filled in. `options` and
    keywords as for `load`. A file that is read must not change while the module is used.
    Errors: LoadError, UnsupportedError, TimeLimitError; WhorlError for a name in `only` or `disabled` that nothing has.
    """
    passes = PassOptions(
        fast_math, expansion_bound, memory_budget, disk_budget, frozenset(disabled), tuple(only), limit
    )
    context = Context(None, passes, report if report is not None else Report())
    pipeline.check_names(passes)
    pipeline.check_disabled(sorted(passes.disabled))
    reading = replace(options_of(options, keywords), memory_map=True)
    return call_within(timeout, "optimizing", _optimize, source, reading, context)


def _optimize(source: Source, options: LoadOptions, context: Context) -> Module:
    folding = context if pipeline.is_chosen(pipeline.fold_constants, context.options) else None
    module = load_module(source, options, folding)
    if isinstance(source, Module | HasModule):
        module = replace(module, main=clone_region(module.main))
    pipeline.optimize(module, context=context)
    return module
