"""The rules every module obeys, checked; passes run it before and after."""

from __future__ import annotations

from collections.abc import Iterator

from whorl.errors import TypeRuleError, VerifyError, format_location
from whorl.ir.dims import UNKNOWN
from whorl.ir.graph import Module, Node, Region, Value, walk
from whorl.ir.infer import Inference, names_of, region_title
from whorl.ir.types import AnyShape, TensorType, same_kind
from whorl.ir.walk import clone_region


def verify(module: Module) -> None:
    """Raise VerifyError at the first rule that a module breaks: its structure first, then the types of its values."""
    if len(module.output_names) != len(module.main.results):
        raise VerifyError(f"{len(module.main.results)} results have {len(module.output_names)} names")
    names = [value.name for value in module.main.arguments]
    if len(set(names)) != len(names):
        raise VerifyError("two inputs have the same name")
    for state in module.states:
        if state.input not in names or state.output not in module.output_names:
            raise VerifyError(f"state {state.name!r} lacks its input {state.input!r} or its output {state.output!r}")
    _verify_region(module.main, ())
    _verify_types(module.main)


def _verify_region(region: Region, around: tuple[str, ...]) -> None:
    """A region reads its own arguments and earlier nodes only; every value knows who made it."""
    known: set[Value] = set(region.arguments)
    where = format_location("the region", *around)
    for index, argument in enumerate(region.arguments):
        _verify_owner(argument, region, index, where)
    for node in region.nodes:
        where = format_location(node.title, *around)
        for value in node.inputs:
            if value is not None and value not in known:
                raise VerifyError(f"reads {value!r}, which is not in its region before it", where)
        for index, value in enumerate(node.outputs):
            _verify_owner(value, node, index, where)
            if value in known:
                raise VerifyError(f"gives {value!r} a second time", where)
        known.update(node.outputs)
        for index, inner in enumerate(node.regions):
            _verify_region(inner, (region_title(node, index), *around))
    for value in region.results:
        if value not in known:
            message = f"gives the result {value!r}, which it does not hold"
            raise VerifyError(message, format_location("the region", *around))


def _verify_owner(value: Value, owner: Node | Region, index: int, where: str) -> None:
    if value.owner is not owner or value.index != index:
        raise VerifyError(f"{value!r} does not know its owner or its place among the values there", where)
    if (
        isinstance(value.type, TensorType)
        and not isinstance(value.type.shape, AnyShape)
        and UNKNOWN in value.type.shape
    ):
        raise VerifyError(f"{value!r} has a dim without a name", where)


def _verify_types(region: Region) -> None:
    """Inference from the inputs must give values of the kinds that the module says, inner ones too."""
    copy = clone_region(region)
    try:
        Inference(names_of(region.arguments)).region(copy)
    except TypeRuleError as error:
        raise VerifyError(error.message, error.where, error.fix) from None
    for node, inferred in zip(walk(region), walk(copy), strict=True):
        inner = [pair for a, b in zip(node.regions, inferred.regions, strict=True) for pair in _pairs(a, b)]
        for value, other in (*zip(node.outputs, inferred.outputs, strict=True), *inner):
            if not same_kind(value.type, other.type):
                raise VerifyError(f"{value!r} is inferred as {other.type}", node.title)


def _pairs(region: Region, copy: Region) -> Iterator[tuple[Value, Value]]:
    return zip(region.arguments, copy.arguments, strict=True)
