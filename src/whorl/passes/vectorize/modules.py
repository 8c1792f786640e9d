"""A whole module for many rows at once: some of its inputs get an axis, and so do its outputs."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from whorl.ir.build import Builder
from whorl.ir.dims import Dim, names_in
from whorl.ir.graph import Module, Region, Value
from whorl.ir.infer import Inference, names_in_type, names_of
from whorl.ir.types import AnyShape, TensorType, Type
from whorl.ops.core.base import normal_axis
from whorl.passes.vectorize.batched import Batched, CannotVectorize, give_all_rows, lengths_of, move_axis, row_count
from whorl.passes.vectorize.regions import batch_region

Axes = Mapping[str, int | None]
"""The axis of the rows in inputs or outputs, by name; None for those that have none."""


def map_module(module: Module, inputs: Axes, outputs: Axes, rows: Dim) -> Module:
    """The module for rows of those inputs that have an axis for them; `rows` is the dim of that axis.

    An output that is the same for all rows is repeated where it gets an axis. Errors: CannotVectorize; TypeRuleError
    for an axis that a type does not have.
    """
    region = Region(module.main.name)
    inference = Inference(names_of_dims(module) | names_in(rows))
    inference.depth = 1
    build = Builder(region, inference)
    arguments = [_argument(value, inputs.get(value.name), rows, build) for value in module.main.arguments]
    results = batch_region(module.main, arguments, build)
    count = row_count(arguments, build)
    axes = [outputs.get(name) for name in module.output_names]
    region.results = [
        _result(x, axis, count, name, build) for x, axis, name in zip(results, axes, module.output_names, strict=True)
    ]
    declared = {name: _with_rows(type, outputs.get(name), rows) for name, type in module.declared.items()}
    defaults = {name: value for name, value in module.defaults.items() if inputs.get(name) is None}
    return replace(module, main=region, declared=declared, defaults=defaults)


def names_of_dims(module: Module) -> set[str]:
    """Every name of a dim that the types of a module mention, inside its regions, too."""
    regions = [module.main, *(region for node in module.nodes() for region in node.regions)]
    names = set[str]().union(*(names_in_type(type) for type in module.declared.values()))
    for region in regions:
        names |= names_of([*region.arguments, *(value for node in region.nodes for value in node.outputs)])
    return names


def _argument(value: Value, axis: int | None, rows: Dim, build: Builder) -> Batched:
    if axis is None:
        return Batched(build.region.add_argument(value.name, value.type, value.known), is_mapped=False)
    source = normal_axis(axis, len(lengths_of(value)) + 1)
    whole = build.region.add_argument(value.name, _with_rows(value.type, axis, rows))
    return Batched(move_axis(whole, source, 0, build))


def _with_rows(type: Type, axis: int | None, rows: Dim) -> Type:
    """The type with the axis of the rows."""
    if axis is None or not isinstance(type, TensorType) or isinstance(type.shape, AnyShape):
        return type
    shape = list(type.shape)
    shape.insert(normal_axis(axis, len(shape) + 1), rows)
    return type.with_shape(tuple(shape))


def _result(x: Batched, axis: int | None, count: Value, name: str, build: Builder) -> Value:
    if axis is None:
        if x.is_mapped:
            raise CannotVectorize(f"output {name!r} differs by row, and has no axis for them")
        return x.value
    rank = x.rank
    return move_axis(give_all_rows(x, count, build), 0, normal_axis(axis, rank + 1), build)
