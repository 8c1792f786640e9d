"""`watch`: values of loops and branches shown while a model runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from msgspec import Struct

from whorl.api.models import Source, load_module
from whorl.api.tracing.recording import Run, copy_module, run_once
from whorl.errors import RunError, WhorlError
from whorl.ir.graph import Module
from whorl.ir.types import TensorType
from whorl.passes.expose.adding import retype
from whorl.passes.expose.conditions import add_condition, find_values
from whorl.passes.expose.scopes import NamedValue, Scope, choose, matches, scopes_of, values_in
from whorl.passes.expose.watching import add_watch
from whorl.passes.expose.windows import Span
from whorl.runtime.limits import Limits


class Watched(Struct, frozen=True):
    """What a body had in an iteration: the paths of the loops around with the iteration of each, and values by path.

    `condition`: the one that holds, empty where values are watched in all iterations.
    """

    loops: list[tuple[str, int]]
    values: dict[str, np.ndarray]
    condition: str = ""


ShowWatched = Callable[[Watched], None]


def watch(
    source: Source,
    inputs: Mapping[str, Any],
    what: str | Sequence[str],
    show: ShowWatched,
    *,
    every: int = 1,
    limits: Limits | None = None,
    backend: str | None = None,
) -> list[Any]:
    """Run a model, whatever `load` takes, and show values of its loops and branches as it goes; returns its outputs.

    `what`: globs for names or paths of values, and conditions such as `abs(h) > 1e6`, which native code evaluates.
    `show` is called at the end of each iteration of the body that has the values, or of those in which the condition
    holds; of outermost loops only `every` Nth iteration counts. Errors: LoadError, RunError.
    """
    texts = [what] if isinstance(what, str) else list(what)
    return watch_in(load_module(source), inputs, texts, show, every, partial(run_once, limits=limits, mode=backend))


def watch_in(
    module: Module, inputs: Mapping[str, Any], texts: Sequence[str], show: ShowWatched, every: int, run: Run
) -> list[Any]:
    """`watch` in a module, which is left as it is."""
    if every < 1:
        raise RunError(f"every is {every}", fix="give a number of 1 or more")
    guard = _Guard(show)
    copy = copy_module(module)
    scopes = scopes_of(copy)
    window = {scope.path: (Span(0, None, every),) for scope in scopes if len(scope.loops) == 1} if every > 1 else {}
    names = [text for text in texts if _is_pattern(scopes, text)]
    chosen = choose(scopes, names)
    groups = [(scope, [each for each in chosen if each.scope is scope], "") for scope in scopes]
    groups += [(None, list(find_values(scopes, text).values()), text) for text in texts if text not in names]
    for scope, values, text in groups:
        if values:
            condition = add_condition(scopes, text) if text else None
            if condition is not None:
                scope = condition.scope
            assert scope is not None
            shown = [each for each in values if isinstance(each.value.type, TensorType)]
            add_watch(copy, scope, shown, partial(_show, scope, shown, text, guard.show), window, condition)
    retype(copy)
    try:
        return run(copy, inputs)[: len(module.output_names)]
    except WhorlError:
        if guard.raised is not None:
            raise guard.raised from None
        raise


class _Guard:
    """Calls a function until it raises something, which then every call raises: a run that fails is interpreted."""

    def __init__(self, show: ShowWatched) -> None:
        self.call = show
        self.raised: Exception | None = None

    def show(self, watched: Watched) -> None:
        if self.raised is not None:
            raise self.raised
        try:
            self.call(watched)
        except Exception as error:
            self.raised = error
            raise


def _is_pattern(scopes: Sequence[Scope], text: str) -> bool:
    """Whether a text names values, or is a glob for them, rather than a condition."""
    known = any(matches(each, text) for scope in scopes if scope.chain for each in values_in(scope))
    return known or not any(mark in text for mark in "<>=()! ")


def _show(
    scope: Scope,
    values: Sequence[NamedValue],
    condition: str,
    show: ShowWatched,
    iterations: Sequence[int],
    arrays: Sequence[np.ndarray],
) -> None:
    loops = [(loop.path, number) for loop, number in zip(scope.loops, iterations, strict=True)]
    show(Watched(loops, {each.path: array for each, array in zip(values, arrays, strict=True)}, condition))
