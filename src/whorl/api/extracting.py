"""`extract`: the body of a loop, or a branch, as a model that any tool can run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from msgspec import Struct

from whorl.api.models import Source, load_module
from whorl.api.tracing.recording import Run, copy_module, run_once
from whorl.errors import RunError
from whorl.ir.graph import Module, Value
from whorl.ir.suggestions import suggest
from whorl.passes.expose.adding import retype
from whorl.passes.expose.exposure import expose
from whorl.passes.expose.isolating import isolate_body
from whorl.passes.expose.reading import read_records
from whorl.passes.expose.scopes import NamedValue, Scope, is_recordable, scopes_of
from whorl.passes.expose.windows import only
from whorl.runtime.limits import Limits


class Extracted(Struct, frozen=True):
    """A body as a model; for one iteration also what its inputs and outputs were, by name."""

    module: Module
    inputs: dict[str, Any] = {}
    outputs: dict[str, Any] = {}


def extract(
    source: Source,
    body: str,
    *,
    at: int | Sequence[int] | None = None,
    inputs: Mapping[str, Any] | None = None,
    limits: Limits | None = None,
    backend: str | None = None,
) -> Extracted:
    """The body of a loop or a branch of an If as a model of its own.

    `body`: a path or its end, such as `newton` or `newton/choice/then_branch`. The inputs are what an iteration is
    passed: its number, the condition, carried values, slices, and captured values that are no constants; the outputs
    are what the body answers. `at` also runs the model on `inputs`, and gives what these were in one iteration: a
    number for each loop around, outermost first. Errors: LoadError, RunError.
    """
    module = load_module(source)
    if at is None:
        return Extracted(isolate_body(find_scope(module, body)).module)
    run = partial(run_once, limits=limits, mode=backend)
    return extract_at(module, body, [at] if isinstance(at, int) else at, inputs or {}, run)


def extract_at(module: Module, body: str, at: Sequence[int], inputs: Mapping[str, Any], run: Run) -> Extracted:
    """A body with what its inputs and outputs were in one iteration. Errors: RunError."""
    copy = copy_module(module)
    scope = find_scope(copy, body)
    loops = [loop.path for loop in scope.loops]
    if len(at) != len(loops):
        listed = ", ".join(loops)
        raise RunError(
            f"{scope.path!r} lies in {len(loops)} loops, and {len(at)} iterations are named",
            fix=f"name the iteration of each of {listed}" if loops else "name none",
        )
    piece = isolate_body(scope)
    values = record_values(copy, scope, [*piece.inputs, *piece.outputs], dict(zip(loops, at, strict=True)), inputs, run)
    if values is None:
        numbers = ", ".join(map(str, at))
        raise RunError(f"{scope.path!r} has no iteration {numbers}", fix="`whorl trace` shows trip counts and branches")
    names = [value.name for value in piece.module.main.arguments]
    own, answers = values[: len(names)], values[len(names) :]
    answered = zip(piece.module.output_names, answers, strict=True)
    return Extracted(piece.module, dict(zip(names, own, strict=True)), dict(answered))


def record_values(
    module: Module,
    scope: Scope,
    values: Sequence[Value],
    at: Mapping[str, int],
    inputs: Mapping[str, Any],
    run: Run,
) -> list[Any] | None:
    """What values of a scope of a module, which is edited, were in an iteration; None where it was not reached."""
    for value in values:
        if not is_recordable(value):
            raise RunError(f"{value.name!r} of {scope.path!r} is {value.type}, which cannot be recorded")
    exposed = expose(module, [NamedValue(value, scope, str(k)) for k, value in enumerate(values)], only(at))
    retype(module)
    outputs = dict(zip(module.output_names, run(module, inputs), strict=True))
    records = [read_records(each, outputs) for each in exposed]
    if any(not each.count for each in records):
        return None
    return [each.first for each in records]


def find_scope(module: Module, body: str) -> Scope:
    """The body or branch at a path, or at the only path that ends so. Errors: RunError."""
    scopes = [scope for scope in scopes_of(module) if scope.chain]
    exact = [scope for scope in scopes if scope.path == body]
    ending = [scope for scope in scopes if scope.path.endswith(f"/{body}")]
    if len(matching := exact or ending) == 1:
        return matching[0]
    listed = ", ".join(dict.fromkeys(scope.path for scope in matching or scopes))
    problem = f"more than one body is called {body!r}" if matching else f"no body or branch is called {body!r}"
    near = "" if matching else suggest(body, [scope.path for scope in scopes])
    every = f"choose from {listed}" if listed else "the model has neither loops nor branches"
    raise RunError(problem, fix=near or every)
