"""Inputs and named lengths made fixed ones, so that the loops that they bound can be unrolled."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from msgspec.structs import replace

from whorl.errors import WhorlError
from whorl.ir import dims
from whorl.ir.build import Builder
from whorl.ir.graph import Module, Region
from whorl.ir.infer import Inference, names_of
from whorl.ir.types import UNRANKED, AnyShape, OptionalType, SequenceType, TensorType, Type
from whorl.passes.inline import inline


def fix_inputs(module: Module, lengths: Mapping[str, int], inputs: Mapping[str, np.ndarray]) -> Module:
    """The module for these lengths of named dims and these values of inputs, which it then does not take any more.

    Errors: WhorlError for a name that the module does not have, and for a value of other lengths.
    """
    known = names_of(module.main.arguments)
    types = {value.name: value.type for value in module.main.arguments}
    for name, array in inputs.items():
        if name not in types:
            fix = f"choose from {', '.join(types)}" if types else "fix dims, or nothing: the model has no inputs"
            raise WhorlError(f"the model has no input {name!r}", fix=fix)
        _check_lengths(f"input {name!r}", array, with_lengths(types[name], lengths))
    for name, length in lengths.items():
        if name not in known:
            raise WhorlError(f"no input has a dim {name!r}", fix=f"choose from {', '.join(sorted(known)) or 'none'}")
        if length < 0:
            raise WhorlError(f"dim {name!r} cannot be {length}", fix="give a length of 0 or more")
    region = Region(module.main.name)
    inference = Inference(known)
    inference.depth = 1
    build = Builder(region, inference)
    arguments = [
        build.constant(inputs[v.name], v.name)
        if v.name in inputs
        else region.add_argument(v.name, with_lengths(v.type, lengths), v.known)
        for v in module.main.arguments
    ]
    region.results = inline(module.main, arguments, build)
    declared = {name: with_lengths(type, lengths) for name, type in module.declared.items()}
    defaults = {name: value for name, value in module.defaults.items() if name not in inputs}
    return replace(module, main=region, declared=declared, defaults=defaults)


def _check_lengths(what: str, array: np.ndarray, type: Type) -> None:
    shape = type.shape if isinstance(type, TensorType) else UNRANKED
    if isinstance(shape, AnyShape):
        return
    if array.ndim != len(shape) or any(map(dims.differ, array.shape, shape)):
        raise WhorlError(f"{what} has shape {list(array.shape)}, expected {type}", fix="give a value of these lengths")


def with_lengths(type: Type, lengths: Mapping[str, int]) -> Type:
    """The type with numbers for the named dims that have them."""
    match type:
        case TensorType(shape=shape) if not isinstance(shape, AnyShape):
            return type.with_shape(tuple(dims.substitute(dim, dict(lengths)) for dim in shape))
        case SequenceType() | OptionalType():
            return replace(type, element=with_lengths(type.element, lengths))
        case _:
            pass
    return type
