"""Turns folded constants that would make a file much larger into nodes again."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from whorl.ir.build import Builder
from whorl.ir.constants import Constant, LazyArray
from whorl.ir.dtypes import STRING
from whorl.ir.elements.base import Leaf
from whorl.ir.elements.packed import packed_size
from whorl.ir.elements.views import Reshaped
from whorl.ir.graph import Module, Node, Value
from whorl.ir.rewrite import rewrite
from whorl.passes.context import Context
from whorl.passes.origins import LARGE, Origin

ROOM = 1 << 26
"""Bytes that folded constants may take in a file, whatever else is in it."""


def unfold_constants(module: Module, context: Context) -> None:
    """Recompute the largest folded constants, until the others take no more than ROOM, or than the unfolded constants.

    An expansion bound that the caller set replaces this.
    """
    if context.options.expansion_bound is not None or not context.origins.by_identity:
        return
    values = {id(v): v for node in module.nodes() if isinstance(node.op, Constant) and (v := node.op.value) is not None}
    grown = [v for v in values.values() if context.origins.of(v) is not None and _stored_bytes(v) >= LARGE]
    plain = sum(_stored_bytes(v) for v in values.values()) - sum(map(_stored_bytes, grown))
    room, chosen = max(ROOM, plain), set[int]()
    for value in sorted(grown, key=_stored_bytes):
        room -= _stored_bytes(value)
        if room < 0:
            chosen.add(id(value))
    if chosen:
        rewrite(module.main, context.inference, lambda node, build: _unfold(node, build, chosen, context))


def _unfold(node: Node, build: Builder, chosen: set[int], context: Context) -> Sequence[Value] | None:
    if not isinstance(node.op, Constant) or id(node.op.value) not in chosen:
        return None
    origin = context.origins.of(node.op.value)
    if origin is None:
        return None
    size = _stored_bytes(node.op.value)
    context.report.skip(origin.op, f"the result would add {size >> 20} MiB to the file")
    return [_build(origin, build, node.outputs[0].name)]


def _build(origin: Origin, build: Builder, name: str) -> Value:
    """The nodes of an origin, those of its inputs first; a source that is read twice is built once."""
    built: dict[int, Value | None] = {}
    stack = [origin]
    while stack:
        each = stack[-1]
        missing = [x for x in each.inputs if id(x) not in built]
        waiting = [x for x in missing if isinstance(x, Origin)]
        built.update({id(x): None if x is None else build.constant(x) for x in missing if not isinstance(x, Origin)})
        if waiting:
            stack += waiting
            continue
        stack.pop()
        if id(each) not in built:
            outputs = [name if each is origin else f"{name}_{len(built)}"]
            built[id(each)] = build.add_many(each.op, [built[id(x)] for x in each.inputs], outputs)[0]
    result = built[id(origin)]
    assert result is not None
    return result


def _stored_bytes(value: np.ndarray | LazyArray) -> int:
    """The bytes that a constant takes in a file, where repeated elements are written once."""
    if isinstance(value, Reshaped):
        value = value.inputs[0]
    array = value.array if isinstance(value, Leaf) else value
    if isinstance(array, np.ndarray) and array.dtype != STRING and 0 in array.strides:
        return Leaf(array).core().nbytes
    return packed_size(value.dtype, tuple(value.shape))
