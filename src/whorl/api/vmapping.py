"""Models for many rows at once: a new axis of inputs and outputs, as jax.vmap has it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Unpack

from whorl.api.deadlines import call_within
from whorl.api.models import Source, options_of
from whorl.api.optimizing import optimize
from whorl.errors import VmapError
from whorl.formats.options import LoadKeywords, LoadOptions
from whorl.ir import dims
from whorl.ir.graph import Module
from whorl.ir.suggestions import choose
from whorl.ir.types import AnyShape, TensorType, Type
from whorl.passes import pipeline
from whorl.passes.vectorize.batched import CannotVectorize
from whorl.passes.vectorize.modules import Axes, map_module, names_of_dims

Where = int | Mapping[str, int | None] | None
"""Where the axis of the rows is: one number for all, or numbers by name, None for what has none."""


def vmap(
    source: Source,
    in_axes: Where = 0,
    *,
    out_axes: Where = 0,
    name: str = "batch",
    timeout: float | None = None,
    options: LoadOptions | None = None,
    **keywords: Unpack[LoadKeywords],
) -> Module:
    """A model that computes many rows at once, each as the model alone does, from whatever `load` takes.

    Shapes: an input gets an axis of length `name` at `in_axes`, an output at `out_axes`; axes count in the new shape,
    negative ones from its end. A mapping names the inputs that get one, the others are what all rows share; without
    one, all do but those with default values. An output that a mapping of `out_axes` does not name gets it first; one
    that is None must be the same for all rows. Results of a row have the bits that it has alone, but for the order in
    which products sum. Where rows take different branches, both are computed and each row selects; a loop goes on while
    one of the rows does, and those that are over keep what they carry. What a row would not compute must not fail for
    it. `timeout`: seconds allowed. `options` and keywords as for `load`.
    Errors: LoadError; VmapError names the node that cannot be computed for many rows, with the reason; TimeLimitError.
    """
    reading = options_of(options, keywords)
    return call_within(timeout, "vmapping", _vmap, source, reading, in_axes, out_axes, name)


def _vmap(source: Source, options: LoadOptions, in_axes: Where, out_axes: Where, name: str) -> Module:
    module = optimize(source, options=options)
    if module.states:
        raise VmapError(
            f"state {module.states[0].name!r} lasts from one run to the next", fix="map the model without it"
        )
    if name in names_of_dims(module):
        raise VmapError(f"the model has a dim {name!r}", fix="give the rows another name")
    inputs = _input_axes(module, in_axes)
    outputs = _output_axes(module, out_axes)
    try:
        mapped = map_module(module, inputs, outputs, dims.name(name))
    except CannotVectorize as reason:
        fix = "map fewer inputs (None in in_axes shares one), or change the node"
        raise VmapError(str(reason), fix=fix) from None
    pipeline.optimize(mapped)
    return mapped


def _input_axes(module: Module, axes: Where) -> Axes:
    types = {value.name: value.type for value in module.main.arguments}
    if isinstance(axes, Mapping):
        _require_names(axes, list(types), "input")
        chosen = dict(axes)
    else:
        chosen = dict.fromkeys((name for name in types if name not in module.defaults), axes)
    if all(axis is None for axis in chosen.values()):
        raise VmapError("no input has an axis for rows", fix="give one in in_axes")
    for name, axis in chosen.items():
        _require_axis(f"input {name!r}", types[name], axis)
    return chosen


def _output_axes(module: Module, axes: Where) -> Axes:
    names = module.output_names
    chosen = dict.fromkeys(names, 0) | dict(axes) if isinstance(axes, Mapping) else dict.fromkeys(names, axes)
    _require_names(chosen, names, "output")
    for name, type in module.output_types().items():
        _require_axis(f"output {name!r}", type, chosen[name])
    return chosen


def _require_names(axes: Axes, known: Sequence[str], what: str) -> None:
    for name in axes:
        if name not in known:
            raise VmapError(f"the model has no {what} {name!r}", fix=choose(name, known))


def _require_axis(what: str, type: Type, axis: int | None) -> None:
    if axis is None:
        return
    if not isinstance(type, TensorType):
        raise VmapError(f"{what} is no tensor, and has no axis for rows", fix="choose None for it")
    if not isinstance(type.shape, AnyShape) and not -1 - len(type.shape) <= axis <= len(type.shape):
        most = len(type.shape)
        raise VmapError(f"{what} cannot have rows along axis {axis}", fix=f"choose from {-1 - most} to {most}")
