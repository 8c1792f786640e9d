"""Models without loops and branches, for runtimes that have none."""

from __future__ import annotations

import functools
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Unpack

from msgspec import Struct
from msgspec.structs import replace

from whorl.api.deadlines import call_within
from whorl.api.models import Source, options_of
from whorl.api.optimizing import optimize
from whorl.api.paying import Delooped, Paying
from whorl.errors import DeloopError, WhorlError
from whorl.formats.options import LoadKeywords, LoadOptions
from whorl.ir.graph import Module
from whorl.ir.suggestions import choose
from whorl.ops.control.flow import If, Loop
from whorl.passes import pipeline
from whorl.passes.context import Context, PassOptions
from whorl.passes.locations import Chooser, names_of
from whorl.passes.targets.targets import DEFAULT, TARGETS, Target
from whorl.passes.unroll.bounding import bound_loops
from whorl.passes.unroll.control_flow import remedy_of, unroll_control_flow
from whorl.passes.unroll.fix_inputs import fix_inputs
from whorl.passes.unroll.remedy import Remedy
from whorl.passes.unroll.truth_values import select_by_logic
from whorl.passes.vectorize.control_flow import vectorize_control_flow
from whorl.passes.vectorize.modules import names_of_dims
from whorl.passes.vectorize.trip_counts import count_iterations
from whorl.runtime.feeds import check_value

MAX_ITERATIONS = 256
"""Copies of a body that are made unless the caller allows more."""
NOT_BEFORE = frozenset({"unswitch"})
"""What is not done to loops beforehand: a loop that has a form as it is needs not be two."""


class DeloopOptions(Struct, frozen=True, kw_only=True):
    """How control flow is removed; `deloop` says what the options mean."""

    max_iterations: int = MAX_ITERATIONS
    dims: Mapping[str, int] = {}
    inputs: Mapping[str, Any] = {}
    exact: bool = False
    only: Sequence[str] = ()
    bounds: Mapping[str, int] = {}
    target: str = DEFAULT
    expected: Mapping[str, int] = {}
    progress: Callable[[str], None] | None = None
    """Called with what is done next."""

    def say(self, what: str) -> None:
        """Call `progress`, where there is one."""
        if self.progress is not None:
            self.progress(what)


def deloop(
    source: Source,
    *,
    max_iterations: int = MAX_ITERATIONS,
    dims: Mapping[str, int] | None = None,
    inputs: Mapping[str, Any] | None = None,
    exact: bool = False,
    only: Sequence[str] = (),
    bounds: Mapping[str, int] | None = None,
    target: str = DEFAULT,
    expected: Mapping[str, int] | None = None,
    partial: bool = False,
    timeout: float | None = None,
    options: LoadOptions | None = None,
    **keywords: Unpack[LoadKeywords],
) -> Module:
    """A model that computes the same without Loop, Scan and If, from whatever `load` takes, which is left as it is.

    A loop becomes ops on all of its iterations at once where they are independent, or where what they carry has a
    closed form: sums, extremes, the last of some values, tensors that grow; its trip count and the lengths of named
    dims may then be known only at run time. Other loops are unrolled, up to `max_iterations` copies of a body; one that
    may end early becomes copies that then change nothing. An If computes both branches and selects.

    `dims` fixes named dims of the inputs, `inputs` the values of inputs, such as a trip count, and so the loops that
    these bound. What a loop or branch would not compute must not fail where it is computed now: an index that could be
    outside, or a divisor that could be 0, keeps it.

    Every bit stays, but for the order in which products of matrices sum, and but for squared distances of the rows of
    two matrices: they become a matrix product, whose error is at most d + 4 units of rounding of the squared lengths of
    the rows, for d columns. `exact` keeps the differences.

    `bounds`: iterations after which loops end at the latest, by the names of their nodes or of an output: for those
    that only their condition ends. Where a run would take more, the outputs are those after so many.
    `target`: what the model is for. By default, what onnxruntime is estimated to be slower at without its loop or
    branch stays; for "onnxruntime", too, and a linear recurrence `s * a + x` of float32 becomes an LSTM of linear
    activations, unless `exact`: it has the same products and sums, but an element that is not finite makes NaN of its
    neighbours. For "whorl", what this backend is slower at stays; for "tensorrt", "coreml" and "tflite", what needs an
    op or a rank that these have not; for "any" and "openvino" nothing does. `expected`: lengths of named dims for the
    estimates, 16 where it says nothing. What `only` and `bounds` name goes in any case.
    `only`: names of loops and branches, of their nodes or of an output, that are to go; others stay. `partial`: what
    cannot be removed stays, too, instead of an error.
    `timeout`: seconds allowed. `options` and keywords as for `load`. Errors: LoadError; DeloopError names every loop
    and branch that remains, with the reason; RunError for an input of another type; TimeLimitError.
    """
    choices = DeloopOptions(
        max_iterations=max_iterations,
        dims=dims or {},
        inputs=inputs or {},
        exact=exact,
        only=only,
        bounds=bounds or {},
        target=target,
        expected=expected or {},
    )
    result = deloop_with_reasons(source, choices, timeout, options_of(options, keywords))
    if result.remaining and not partial:
        raise remaining_error(result)
    return result.module


def remaining_error(result: Delooped) -> DeloopError:
    """The error that names what remains."""
    reasons = "\n  ".join(f"{where}: {why}" for where, why in result.remaining.items())
    return DeloopError(f"control flow remains:\n  {reasons}", fix=result.fix)


def deloop_with_reasons(
    source: Source, choices: DeloopOptions, timeout: float | None, options: LoadOptions
) -> Delooped:
    """As `deloop`, with what became of each loop and branch; those that remain are no error."""
    return call_within(timeout, "delooping", _deloop, source, choices, options)


def _deloop(source: Source, choices: DeloopOptions, options: LoadOptions) -> Delooped:
    result = _paying(source, choices, options)
    if not result.remaining:
        return result
    return replace(result, fix=_fix(result.remedy, _needs_target(result, source, choices, options)))


def _needs_target(result: Delooped, source: Source, choices: DeloopOptions, options: LoadOptions) -> bool:
    """Whether something remains because of the target, with what the remedy fixes and bounds, too."""
    remedy = result.remedy
    if not (remedy.lengths or remedy.inputs or remedy.iterations or remedy.bounds):
        return result.refused
    if not _target(choices.target).is_selective:
        return False
    more = replace(
        choices,
        dims={**choices.dims, **remedy.lengths},
        inputs={**choices.inputs, **remedy.inputs},
        bounds={**choices.bounds, **remedy.bounds},
        max_iterations=max(choices.max_iterations, remedy.iterations),
    )
    try:
        return _paying(source, more, options).refused
    except WhorlError:
        return result.refused


def _paying(source: Source, choices: DeloopOptions, options: LoadOptions) -> Delooped:
    """The model without the control flow that it is better without for a target."""
    target = _target(choices.target)
    module = _prepared(source, choices, options)
    is_chosen = _chooser(module, choices.only)
    if not target.is_selective:
        choices.say("removing loops and branches")
        return _remove(choices, target, module, is_chosen)
    remove, required = functools.partial(_remove, choices, target), (*choices.only, *choices.bounds)
    return Paying(module, remove, target, choices.expected, required, choices.say).result(is_chosen)


def _target(name: str) -> Target:
    """What a target is. Errors: WhorlError for a name that none has."""
    if name not in TARGETS:
        raise WhorlError(f"there is no target {name!r}", fix=f"choose from {', '.join(TARGETS)}")
    return TARGETS[name]


def _prepared(source: Source, choices: DeloopOptions, options: LoadOptions) -> Module:
    """The optimised model with what the choices fix and bound."""
    choices.say("optimizing")
    module = optimize(source, disabled=NOT_BEFORE, options=options)
    _check_expected(module, choices.expected)
    if choices.dims or choices.inputs:
        types = {value.name: value.type for value in module.main.arguments}
        values = {
            name: check_value(x, types[name], f"input {name!r}") if name in types else x
            for name, x in choices.inputs.items()
        }
        module = fix_inputs(module, choices.dims, values)
        pipeline.optimize(module, PassOptions(disabled=NOT_BEFORE))
    bound_loops(module, Context(module), _known_bounds(module, choices.bounds))
    count_iterations(module, Context(module), _chooser(module, choices.only))
    pipeline.optimize(module, PassOptions(disabled=NOT_BEFORE))
    return module


def _remove(
    choices: DeloopOptions, target: Target, module: Module, is_chosen: Chooser, is_copied: Chooser | None = None
) -> Delooped:
    """Remove the chosen control flow of a module, in place; some of it by copies of bodies alone."""
    chosen = PassOptions(distances=not choices.exact, linear=target.linear and not choices.exact)
    removed: dict[str, str] = {}
    plain = replace(chosen, disabled=NOT_BEFORE)
    pipeline.optimize(module, plain)
    whole: Chooser = is_chosen if is_copied is None else lambda node: is_chosen(node) and not is_copied(node)
    recurrent = vectorize_control_flow(module, Context(module, chosen), whole, removed)
    pipeline.optimize(module, plain)
    context = Context(module, PassOptions())
    remaining = unroll_control_flow(module, context, choices.max_iterations, is_chosen, removed)
    remedy = remedy_of(module, remaining)
    reasons = {where: _reason(str(why), recurrent.get(where)) for where, why in remaining.items()}
    reasons |= {where: f"{reasons[where]}; then_branch is for {text}" for where, text in remedy.decisions.items()}
    pipeline.optimize(module, plain)
    select_by_logic(module, Context(module, plain))
    return Delooped(module, removed, reasons, remedy)


def bounded(source: Source, bounds: Mapping[str, int], options: LoadOptions) -> Module:
    """The model whose loops of these names end after so many iterations at the latest, as `deloop` makes it first."""
    module = optimize(source, disabled=NOT_BEFORE, options=options)
    bound_loops(module, Context(module), _known_bounds(module, bounds))
    return module


def _known_bounds(module: Module, bounds: Mapping[str, int]) -> Mapping[str, int]:
    """Bounds of loops that there are. Errors: WhorlError for a name that none has, and for a bound below 1."""
    _require_names(module, bounds, Loop, "loop")
    for name, bound in bounds.items():
        if bound < 1:
            raise WhorlError(f"loop {name!r} cannot be bound by {bound}", fix="give 1 or more")
    return bounds


def _check_expected(module: Module, expected: Iterable[str]) -> None:
    """Refuse lengths of dims that the model does not have."""
    known = sorted(names_of_dims(module))
    for name in expected:
        if name not in known:
            what = f"no dim is called {name!r}, whose length --expect, in Python expected, says"
            raise WhorlError(what, fix=choose(name, known))


def _require_names(module: Module, names: Iterable[str], kinds: Any, what: str) -> None:
    known = {name for node in module.nodes() if isinstance(node.op, kinds) for name in names_of(node)}
    for name in names:
        if name not in known:
            fix = choose(name, sorted(known)) if known else f"choose from none: the model has no {what}"
            raise WhorlError(f"no {what} is called {name!r}", fix=fix)


def _chooser(module: Module, names: Sequence[str]) -> Chooser:
    """Whether a loop or branch is one of those that are to go. Errors: WhorlError for a name that none has."""
    _require_names(module, names, If | Loop, "loop or branch")
    return lambda node: not names or not names_of(node).isdisjoint(names)


def _reason(unrolled: str, vectorized: str | None) -> str:
    """Why control flow remains: why there are no copies of it, and why it has no form without iterations."""
    return unrolled + (f"; not all iterations at once: {vectorized}" if vectorized else "")


def _fix(remedy: Remedy, is_refused: bool) -> str:
    """The options that may remove what remains, on the command line and here; the numbers are examples."""
    flags = [shlex.join(("--dim", f"{name}={length}")) for name, length in remedy.lengths.items()]
    flags += [shlex.join(("--input", f"{name}={value}")) for name, value in remedy.inputs.items()]
    arguments = [f"dims={remedy.lengths}"] if remedy.lengths else []
    arguments += [f"inputs={remedy.inputs}"] if remedy.inputs else []
    if remedy.bounds:
        flags += [shlex.join(("--bound", f"{name}={bound}")) for name, bound in remedy.bounds.items()]
        arguments.append(f"bounds={remedy.bounds}")
    if remedy.iterations:
        flags.append(f"--max-iterations {remedy.iterations}")
        arguments.append(f"max_iterations={remedy.iterations}")
    if is_refused:
        flags.append("--target any")
        arguments.append("target='any'")
    if not flags:
        return "no option removes it: change the model, or choose a runtime with control flow"
    return f"try {' '.join(flags)}, in Python {', '.join(arguments)}"
