"""What can be unrolled: nodes may run speculatively, draws stay different, and selected values have one type."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np

from whorl.errors import TypeRuleError
from whorl.ir import dims
from whorl.ir.dtypes import FLOAT32, INT32, INT64, STRING, is_integer
from whorl.ir.graph import Node, Op, Region, Value, as_types, walk
from whorl.ir.infer import names_in_type
from whorl.ir.types import AnyShape, TensorType, Type
from whorl.ops.control.flow import Loop
from whorl.ops.core.base import Elementwise
from whorl.ops.elementwise.casting import Cast
from whorl.ops.movement.lengths import bounds
from whorl.ops.random.distributions import Random
from whorl.passes.rules.conditions import same_type
from whorl.passes.rules.pattern import constant_of, tensor_type
from whorl.passes.totality import Totality
from whorl.passes.unroll.fix_inputs import with_lengths
from whorl.passes.unroll.remedy import EXAMPLE

_LARGE = (1 << 20) + 1
"""A length that no fixed index or length reaches."""


class CannotUnroll(Exception):
    """A loop or branch cannot be unrolled; the text is the reason.

    `iterations`: the limit that would allow it; `lengths`: named dims that would, if they had lengths.
    """

    def __init__(self, reason: str, iterations: int = 0, lengths: Collection[str] = ()) -> None:
        super().__init__(reason)
        self.iterations, self.lengths = iterations, lengths


def require_speculatable(region: Region, total: Collection[Node] = ()) -> None:
    """Refuse a region with a node that may fail or draws random numbers: it would run where the condition is false.

    `total` are nodes that surely give results.
    """
    for node in walk(region):
        if not node.op.pure:
            raise CannotUnroll(f"{node.title} is random, and would draw where it did not")
    totality = Totality()
    for node in region.nodes:
        values = [value for value in (*node.inputs, *node.outputs) if value is not None]
        if not all(isinstance(value.type, TensorType) for value in values):
            raise CannotUnroll(f"{node.title} works on a sequence or optional")
        if may_fail(node, total, totality):
            reason = f"{node.title} may fail on values that it does not see now"
            raise CannotUnroll(reason, lengths=_helpful_lengths(node))


def require_unseeded(region: Region) -> None:
    """Refuse a body in which a node draws from a seed: its copies would all draw what the first iteration draws."""
    for node in walk(region):
        if isinstance(node.op, Random) and node.op.seed is not None:
            raise CannotUnroll(f"{node.title} draws from a seed, and copies of it would all draw the same")


def require_same_type(old: Value, new: Value, what: str) -> None:
    """Refuse to select between values whose types are not proved equal."""
    if not same_type(old.type, new.type):
        raise CannotUnroll(f"{what} is {old.type} or {new.type}")


def may_fail(node: Node, total: Collection[Node] = (), totality: Totality | None = None) -> bool:
    """Whether a node may refuse its operands, at any lengths of their named dims, or of those inside.

    `totality` remembers what is known of values, for nodes that read the same ones.
    """
    if node in total:
        return False
    totality = totality or Totality()
    if node.regions:
        inside = (inner for region in node.regions for inner in region.nodes)
        return (
            loop_may_fail(node)
            or _has_variable_integers(node)
            or any(may_fail(inner, total, totality) for inner in inside)
        )
    operands = [value for value in node.inputs if value is not None]
    if isinstance(node.op, Elementwise) and len(operands) == 1 and not _reads_numbers_in_text(node):
        return False
    names = _names(node)
    samples = _samples(len(names))
    if sizes := sorted(_names_in_sizes(node) - {*names}):
        names += sizes
        samples = [*_samples(len(names)), (_LARGE,) * len(names)]
    return not all(_is_total(node, dict(zip(names, lengths, strict=True)), totality) for lengths in samples)


def loop_may_fail(node: Node) -> bool:
    """Whether a loop may refuse the lengths of what it scans, carries or collects; no for other nodes."""
    op = node.op
    if not isinstance(op, Loop):
        return False
    _, _, _, scanned, _ = op.split(node.inputs)
    lengths = [how.length(tensor_type(value)) for value, how in zip(scanned, op.scanned, strict=True)]
    if any(not dims.equal(lengths[0], length) for length in lengths):
        return True
    if any(how.part > 1 for how in op.scanned) or op.slices_suffice:
        return True
    body = node.regions[0]
    states = op.split(body.arguments)[2]
    if op.keep_shapes and not all(same_type(a.type, b.type) for a, b in zip(states, body.results[1:], strict=False)):
        return True
    outside = set[str]().union(*(names_in_type(value.type) for value in node.inputs if value is not None))
    elements = [value.type for value in body.results[1 + op.carried + op.last :]]
    return not all(_is_known(type) and names_in_type(type) <= outside for type in elements)


def _is_known(type: Type) -> bool:
    """Whether nothing in a type is unknown but the lengths of named dims."""
    return (
        isinstance(type, TensorType)
        and not isinstance(type.shape, AnyShape)
        and not any(isinstance(dim, dims.Unknown) for dim in type.shape)
    )


def fails_without_rows(node: Node, shared: Collection[Value | None]) -> bool:
    """Whether a node may fail though its operands have no rows: by their lengths, as a constant index does on an axis
    that may be short, or by indices and sizes that are `shared` by all rows. Of sequences and optionals no op is
    computed for rows."""
    if node.regions:
        inside = any(fails_without_rows(inner, ()) for region in node.regions for inner in region.nodes)
        return inside or loop_may_fail(node)
    if not all(value is None or isinstance(value.type, TensorType) for value in (*node.inputs, *node.outputs)):
        return False
    variable = _variable_integers(node)
    sizes = {value for value in variable if tensor_type(value).dtype in (INT32, INT64)}
    return (not variable or not sizes.isdisjoint(shared)) and may_fail(node)


def _helpful_lengths(node: Node) -> list[str]:
    """The names of dims of a node that cannot fail once they have lengths."""
    if node.regions:
        return []
    names = _names(node)
    return names if _is_total(node, dict.fromkeys(names, EXAMPLE), Totality()) else []


def _names(node: Node) -> list[str]:
    """The names of dims in the types of a node's operands."""
    return sorted(set[str]().union(*(names_in_type(value.type) for value in node.inputs if value is not None)))


def _names_in_sizes(node: Node) -> set[str]:
    """The names of dims in the elements of a node's operands, where these are sizes: never negative at any length.

    Such an element is 0 where all lengths are, if anywhere, so that samples tell where it may be no divisor.
    """
    if isinstance(node.op, Elementwise):
        return set()
    elements = [x for v in node.inputs if v is not None and v.known is not None for x in v.known.flat]
    are_sizes = all(bounds(element)[0] >= 0 for element in elements if isinstance(element, dims.Linear))
    return set[str]().union(*map(dims.names_in, elements)) if are_sizes else set()


def _samples(count: int) -> list[tuple[int, ...]]:
    """Lengths of so many names: none, one, and different ones in both orders."""
    if not count:
        return [()]
    rising = tuple(range(11, 11 + 2 * count, 2))
    return [(0,) * count, (1,) * count, rising, rising[::-1]]


def _is_total(node: Node, lengths: Mapping[str, int], totality: Totality) -> bool:
    """Whether a node surely gives results where its operands have these lengths."""
    inputs = [None if value is None else _at_lengths(value, lengths) for value in node.inputs]
    probe = _typed(node.op, inputs)
    if probe is None:
        return False
    if _has_variable_integers(probe) or _reads_numbers_in_text(probe):
        return _says_whether_it_fails(probe) and totality.is_total(probe)
    if any(_has_text(value) for value in probe.outputs):
        probe = _typed(node.op, [None if value is None else _as_number(value) for value in inputs]) or probe
    return not _says_whether_it_fails(probe) or totality.is_total(probe)


def _typed(op: Op, inputs: Sequence[Value | None]) -> Node | None:
    """A node that stands nowhere; None where the op refuses the types of its operands."""
    probe = Node(op, inputs)
    try:
        types = as_types(op.infer(*inputs))
    except TypeRuleError:
        return None
    probe.outputs = [Value("", type, probe, index) for index, type in enumerate(types)]
    return probe


def _as_number(value: Value) -> Value:
    """A value with numbers in the place of text: an op that only moves elements fails by lengths and indices alone."""
    type = tensor_type(value)
    return Value(value.name, type.with_dtype(FLOAT32), value.owner, value.index) if type.dtype == STRING else value


def _says_whether_it_fails(node: Node) -> bool:
    """Whether `Totality` knows the op; of text it knows nothing."""
    is_known = node.op.never_fails or type(node.op).is_total is not Op.is_total
    return is_known and not any(_has_text(value) for value in (*node.inputs, *node.outputs))


def _reads_numbers_in_text(node: Node) -> bool:
    return isinstance(node.op, Cast) and _has_text(node.inputs[0]) and not _has_text(node.outputs[0])


def _has_text(value: Value | None) -> bool:
    return value is not None and tensor_type(value).dtype == STRING


def _has_variable_integers(node: Node) -> bool:
    """Whether integers that only a run knows may be indices, sizes or counts."""
    return bool(_variable_integers(node))


def _variable_integers(node: Node) -> set[Value]:
    """Integers that only a run knows, and that may be indices, sizes or counts."""
    return {
        value
        for value in node.inputs[1:]
        if value is not None
        and isinstance(value.type, TensorType)
        and is_integer(value.type.dtype)
        and constant_of(value) is None
    }


def _at_lengths(value: Value, lengths: Mapping[str, int]) -> Value:
    known = value.known
    if known is not None:
        elements = [dims.substitute(element, dict(lengths)) for element in known.flat]
        known = np.array(elements, object).reshape(known.shape)
    return Value(value.name, with_lengths(value.type, lengths), value.owner, value.index, known)
