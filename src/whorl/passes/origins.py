"""What large constants were computed from: those that would make a file much larger become nodes again."""

from __future__ import annotations

import math
import weakref
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from whorl.ir.build import Builder
from whorl.ir.constants import Constant
from whorl.ir.dtypes import STRING
from whorl.ir.elements.base import Elements, Held, leaves_of
from whorl.ir.elements.packed import packed_size
from whorl.ir.elements.views import Reshaped
from whorl.ir.graph import Module, Node, Op, Value
from whorl.ir.rewrite import rewrite

if TYPE_CHECKING:
    from whorl.passes.context import Context

LARGE = 1 << 20
"""Bytes from which it is remembered what a constant was computed from."""
GROWTH = 4
"""How many times the bytes of what it was computed from a constant has at least, to become a node again."""
ROOM = 1 << 26
"""Bytes that such constants may take in a file, whatever else is in it."""


@dataclass(frozen=True, eq=False)
class Origin:
    """The op and its inputs, which may have origins themselves; the bytes of all constants behind them."""

    op: Op
    inputs: tuple[Any, ...]
    bytes: int


@dataclass
class Origins:
    """The origins of constants, as long as those live."""

    by_identity: dict[int, Origin] = field(default_factory=dict)

    def note(self, op: Op, inputs: Sequence[Any], result: Any) -> None:
        """Remember what the only result of an op was computed from, if that is much less."""
        size = _bytes(result)
        if size < LARGE or result.dtype == STRING or not isinstance(result, Elements | np.ndarray):
            return
        known = tuple(self.by_identity.get(id(x), x) for x in inputs)
        behind = sum(_bytes_behind(x) for x in known)
        if size >= GROWTH * behind:
            self.by_identity[id(result)] = Origin(op, known, behind)
            weakref.finalize(result, self.by_identity.pop, id(result), None).atexit = False

    def of(self, value: Any) -> Origin | None:
        return self.by_identity.get(id(value))


def unfold_constants(module: Module, context: Context) -> None:
    """Put nodes in the place of the largest constants that folding made, until the others take no more than ROOM, or
    than all constants that it did not make larger. An expansion bound that the caller gave holds instead."""
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
    found = built[id(origin)]
    assert found is not None
    return found


def _bytes(value: Any) -> int:
    return math.prod(value.shape) * value.dtype.itemsize


def _bytes_behind(source: Any) -> int:
    match source:
        case None:
            return 0
        case Origin():
            return source.bytes
        case Elements():
            return sum(leaf.core().nbytes for leaf in leaves_of(source))
    return _bytes(source)


def _stored_bytes(value: Any) -> int:
    """The bytes that a constant takes in a file, where repeated elements are written once."""
    if isinstance(value, Reshaped):
        value = value.inputs[0]
    array = value.array if isinstance(value, Held) else value
    if isinstance(array, np.ndarray) and array.dtype != STRING and 0 in array.strides:
        return Held(array).core().nbytes
    return packed_size(value.dtype, tuple(value.shape))
