"""`explore`: a page about a model."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from whorl.api.exploring.document import Shown, seal_document
from whorl.api.exploring.page import Page
from whorl.api.models import Source, load_module
from whorl.api.tracing.profiling import profile_module
from whorl.api.tracing.recording import Selection, record, run_once
from whorl.api.tracing.spending import RunProfile
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
    other: ValueTrace | Source | None = None,
    costs: bool = False,
    title: str = "",
    limits: Limits | None = None,
    backend: str | None = None,
) -> Page:
    """A page that shows a model, whatever `load` takes: its loops and branches, their bodies as graphs.

    With `inputs` the model is run, and the page shows what happened in each iteration; `values` are globs for what is
    recorded, as in `trace`. `trace`: what was recorded before, in the place of a run. `other`: a second trace, or a
    model with values of the same names that is run on the same inputs, to show both with what differs first. `costs`:
    show what ran natively and what each node took, as `profile` measures it. `Page.save` writes the file.
    Errors: LoadError, RunError.
    """
    module = load_module(source)
    if inputs is not None and trace is not None:
        raise RunError("inputs were passed beside a trace", fix="pass inputs for a new run, or the trace of an old one")
    if costs and inputs is None:
        raise RunError("costs are those of a run", fix="pass inputs")
    if other is not None and inputs is None and trace is None:
        raise RunError("there is nothing to compare the other trace with", fix="pass inputs, or a trace")
    patterns = [values] if isinstance(values, str) else list(values)

    def record_run(model: Module, feeds: Mapping[str, Any]) -> ValueTrace:
        return record(model, feeds, Selection(values=patterns), partial(run_once, limits=limits, mode=backend))

    if inputs is not None and has_bodies(module):
        trace = record_run(module, inputs)
    traces = [] if trace is None else [trace]
    if traces and other is not None:
        if not isinstance(other, ValueTrace):
            if inputs is None:
                raise RunError("there are no inputs to run the other model on", fix="pass inputs, or two traces")
            other = record_run(load_module(other), inputs)
        traces.append(other)
    measured = profile_module(module, inputs, limits, backend) if costs and inputs is not None else None
    return page_of(module, title or title_of(source, module), traces, profile=measured)


def page_of(
    module: Module,
    title: str,
    traces: Sequence[ValueTrace],
    names: Sequence[str] = ("this run", "the other run"),
    profile: RunProfile | None = None,
    is_served: bool = False,
) -> Page:
    """The page of a module with one or two traces of it, and with what its nodes took."""
    shown = Shown(
        title=title, module=module, traces=traces, names=names[: len(traces)], profile=profile, is_served=is_served
    )
    return Page(title, seal_document(shown))


def title_of(source: object, module: Module) -> str:
    """The file's name, or what the model calls itself."""
    if isinstance(source, str | os.PathLike):
        return os.path.basename(os.fspath(source))
    return str(module.metadata.get("graph_name") or "model")


def has_bodies(module: Module) -> bool:
    """Whether there is anything to record: a loop or a branch."""
    return any(node.regions for node in module.main.nodes)
