"""Models of one step made loops over recordings, and loops made steps."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Unpack

from whorl.api.models import Source, load_module, options_of
from whorl.errors import StepError
from whorl.formats.options import LoadKeywords, LoadOptions
from whorl.ir import dims
from whorl.ir.graph import Module
from whorl.ir.suggestions import choose
from whorl.passes.steps.extraction import extract_step
from whorl.passes.steps.repetition import Repetition, repeat_step, require_same_kind, with_axis
from whorl.passes.vectorize.modules import names_of_dims

Axes = Sequence[str] | Mapping[str, int]
"""Names of inputs or outputs that have an axis of iterations, the first, or another where a mapping says so."""


def to_loop(
    source: Source,
    *,
    carry: Mapping[str, str] | None = None,
    scan: Axes = (),
    collect: Axes | None = None,
    steps: str = "steps",
    options: LoadOptions | None = None,
    **keywords: Unpack[LoadKeywords],
) -> Module:
    """The model that repeats a step over a recording, from whatever `load` takes: one Loop around the whole model.

    `carry` names the output that an input is in the next iteration; without it, the states of the model are carried.
    Its first value stays an input, its last one an output. `scan`: inputs of which each iteration sees one slice, along
    the axis that a mapping gives, by default the first; other inputs are the same for all. `collect`: outputs of which
    the elements of all iterations are stacked; without it, all that are not carried. `steps` names the length of these
    axes; where nothing is scanned, it is an input, the number of iterations. Zero iterations leave what is carried as
    it is. `to_step` undoes it. `options` and keywords as for `load`.
    Errors: LoadError; StepError for names that do not exist and types that do not fit.
    """
    module = load_module(source, options_of(options, keywords))
    carried = {state.input: state.output for state in module.states} if carry is None else dict(carry)
    how = Repetition(carried, _axes(scan), _collected(module, carried, collect), steps)
    _check_inputs(module, how)
    _check_outputs(module, how)
    return repeat_step(module, how)


def to_step(source: Source, *, options: LoadOptions | None = None, **keywords: Unpack[LoadKeywords]) -> Module:
    """The model of one iteration of the only loop of a model, from whatever `load` takes.

    What the loop carries is a state of the step: an input with the name of the first value, and an output with that of
    the last one. A session hands it on from run to run; written as ONNX, it is an input and an output. An input that
    the loop scans is one slice of it, an output that it collects one element. A body that asks for the number of its
    iteration gets a state that counts. `to_loop` undoes it. `options` and keywords as for `load`.
    Errors: LoadError; StepError for a loop that may end early, for what follows the loop, and for what it needs of a
    whole recording.
    """
    return extract_step(load_module(source, options_of(options, keywords)))


def _axes(names: Axes) -> dict[str, int]:
    if isinstance(names, str):
        return {names: 0}
    return dict(names) if isinstance(names, Mapping) else dict.fromkeys(names, 0)


def _collected(module: Module, carried: Mapping[str, str], collect: Axes | None) -> dict[str, int]:
    if collect is not None:
        return _axes(collect)
    return {name: 0 for name in module.output_names if name not in carried.values()}


def _check_inputs(module: Module, how: Repetition) -> None:
    types = {value.name: value.type for value in module.main.arguments}
    _require_names([*how.carry, *how.scan], types, "input")
    for name in how.scan:
        if name in how.carry:
            raise StepError(f"input {name!r} is carried and scanned", fix="choose one of the two")
        with_axis(types[name], how.scan[name], dims.UNKNOWN, f"input {name!r}")
    left = [state for state in module.states if how.carry.get(state.input) != state.output]
    if left:
        state = left[0]
        raise StepError(
            f"state {state.name!r} lasts from one run to the next, and is not carried",
            fix=f"carry {state.input}:{state.output}",
        )
    if how.steps in names_of_dims(module):
        raise StepError(f"the model has a dim {how.steps!r}", fix="give the iterations another name")
    if not how.scan and how.steps in types:
        raise StepError(f"the model has an input {how.steps!r}", fix="give the number of iterations another name")


def _check_outputs(module: Module, how: Repetition) -> None:
    types = dict(zip(module.output_names, (value.type for value in module.main.results), strict=True))
    _require_names([*how.carry.values(), *how.collect], types, "output")
    for input, output in how.carry.items():
        if list(how.carry.values()).count(output) > 1:
            raise StepError(f"output {output!r} is carried by two inputs", fix="carry it by one")
        require_same_kind(module, input, output)
    for name, axis in how.collect.items():
        with_axis(types[name], axis, dims.UNKNOWN, f"output {name!r}")


def _require_names(names: Sequence[str], known: Collection[str], what: str) -> None:
    for name in names:
        if name not in known:
            raise StepError(f"the model has no {what} {name!r}", fix=choose(name, known))
