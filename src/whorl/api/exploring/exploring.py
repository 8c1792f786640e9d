"""`explore`: a page about a model."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from whorl.api.exploring.document import Shown, seal_document
from whorl.api.exploring.page import Page
from whorl.api.models import Source, load_module
from whorl.api.tracing.recording import Selection, record, run_once
from whorl.api.tracing.value_trace import ValueTrace
from whorl.errors import RunError
from whorl.ir.graph import Module
from whorl.runtime.limits import Limits


def explore(
    source: Source,
    inputs: Mapping[str, Any] | None = None,
    *,
    values: str | Sequence[str] = "*",
    trace: ValueTrace | None = None,
    title: str = "",
    limits: Limits | None = None,
    backend: str | None = None,
) -> Page:
    """A page that shows a model, whatever `load` takes: its loops and branches, their bodies as graphs.

    With `inputs` the model is run, and the page shows what happened in each iteration; `values` are globs for what is
    recorded, as in `trace`. `trace`: what was recorded before, in the place of a run. The page is one file that reads
    nothing else: `Page.save` writes it.
    Errors: LoadError, RunError.
    """
    module = load_module(source)
    if inputs is not None and trace is not None:
        raise RunError("inputs were passed beside a trace", fix="pass inputs for a new run, or the trace of an old one")
    if inputs is not None and has_bodies(module):
        patterns = [values] if isinstance(values, str) else list(values)
        trace = record(module, inputs, Selection(values=patterns), partial(run_once, limits=limits, mode=backend))
    return page_of(module, title or title_of(source, module), [trace] if trace is not None else [])


def page_of(module: Module, title: str, traces: Sequence[ValueTrace], names: Sequence[str] = ("this run",)) -> Page:
    """The page of a module with traces of it."""
    return Page(title, seal_document(Shown(title=title, module=module, traces=traces, names=names[: len(traces)])))


def title_of(source: object, module: Module) -> str:
    """The file's name, or what the model calls itself."""
    if isinstance(source, str | os.PathLike):
        return os.path.basename(os.fspath(source))
    return str(module.metadata.get("graph_name") or "model")


def has_bodies(module: Module) -> bool:
    """Whether there is anything to record: a loop or a branch."""
    return any(node.regions for node in module.main.nodes)
