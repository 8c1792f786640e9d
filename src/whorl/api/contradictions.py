"""What cannot be, however a model is run: declarations that its types contradict, and ops that its opset has not."""

from __future__ import annotations

from collections.abc import Iterator

from whorl.api.problem import Problem
from whorl.ir import dims
from whorl.ir.dims import Dim
from whorl.ir.dtypes import is_float, name_of
from whorl.ir.graph import Module, Node, Value
from whorl.ir.types import TensorType, contradict
from whorl.ops.control.flow import Loop, Scanned
from whorl.ops.elementwise.arithmetic import Mod

FLOATS_FLOORED = 28
"""The first opset that has the floored remainder of floats."""


def find_contradictions(node: Node, module: Module, where: str) -> Iterator[Problem]:
    """What contradicts itself in one node."""
    match node.op:
        case Loop() as op:
            yield from _unequal_lengths(node, op, where)
            yield from _changing_states(node, op, where)
        case Mod(fmod=0) if module.metadata.get("opsets", {}).get("", FLOATS_FLOORED) < FLOATS_FLOORED:
            yield from _floored_floats(node, where)
        case _:
            pass


def _unequal_lengths(node: Node, op: Loop, where: str) -> Iterator[Problem]:
    """Scanned inputs that do not have one length."""
    if op.slices_suffice:
        return
    scanned = op.split(node.inputs)[3]
    lengths = [_length(x, how) for x, how in zip(scanned, op.scanned, strict=True)]
    for k, length in enumerate(lengths[1:], 1):
        if dims.differ(lengths[0], length):
            message = f"scanned input {k} ({scanned[k].name!r}) has {length} slices, "
            message += f"scanned input 0 ({scanned[0].name!r}) has {lengths[0]}"
            yield Problem("scanned-lengths", "error", where, message, "give all scanned inputs one length")


def _length(value: Value, how: Scanned) -> Dim:
    return how.length(value.type) if isinstance(value.type, TensorType) else dims.UNKNOWN


def _changing_states(node: Node, op: Loop, where: str) -> Iterator[Problem]:
    """Carried values of a Scan whose shape is another one after an iteration."""
    if not op.keep_shapes:
        return
    results = node.regions[0].results[1 : 1 + op.carried]
    for k, (before, after) in enumerate(zip(op.split(node.inputs)[2], results, strict=True)):
        if contradict(before.type, after.type):
            message = f"carried value {k} ({before.name!r}) is {before.type} before an iteration and {after.type} after"
            message += " it, which Scan does not allow"
            yield Problem("carried-shape", "error", where, message, "keep its shape, or use Loop")


def _floored_floats(node: Node, where: str) -> Iterator[Problem]:
    type = node.outputs[0].type
    if isinstance(type, TensorType) and is_float(type.dtype):
        message = f"has no fmod, so opsets before {FLOATS_FLOORED} take only integers, but its inputs are "
        message += f"{name_of(type.dtype)}; the remainder has the sign of the divisor here, onnxruntime refuses it"
        yield Problem("mod-of-floats", "error", where, message, f"set fmod=1, or import opset {FLOATS_FLOORED}")
