"""Type and shape inference over nodes and regions; the place where unknown dims get their names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from whorl.errors import TypeRuleError, format_title
from whorl.ir import dims
from whorl.ir.dims import UNKNOWN, Dim, Linear
from whorl.ir.graph import Node, Region, Value, as_types
from whorl.ir.types import (
    KNOWN_LIMIT,
    UNRANKED,
    AnyShape,
    Fact,
    Known,
    MapType,
    OptionalType,
    SequenceType,
    TensorType,
    Type,
)
from whorl.phases import Phase, in_phase


class Inference:
    """One run of inference: the names given to dims and the loops already visited.

    Within one run the types of loop arguments only ever widen, so that nested fixpoints end after
    a number of steps that grows with the depth and the ranks, not with their product.

    `lengths` are those of names in one run; what they decide of types, `decisions` says for the nodes that ask.
    """

    def __init__(self, used_names: Iterable[str] = (), lengths: Mapping[str, int] | None = None) -> None:
        self.used: set[str] = set(used_names)
        self.counts: dict[str, int] = {}
        self.owners: dict[str, Value] = {}
        self.visited: set[Node] = set()
        self.problems: list[str] = []
        self.ill_typed: set[Node] = set()
        self.lengths = lengths or {}
        self.decisions: dict[Node, tuple[Linear, bool]] = {}
        self.depth = 0

    def region(self, region: Region) -> None:
        """Infer every node of a region; the arguments keep the types they have."""
        if not self.depth:
            self.used |= names_of(region.arguments)
        self.depth += 1
        try:
            for node in region.nodes:
                self.node(node)
        finally:
            self.depth -= 1

    @in_phase(Phase.INFER)
    def node(self, node: Node) -> None:
        """Set the types and known elements of a node's outputs."""
        if node.regions:
            types: tuple[Type, ...] = self._region_types(node)
            known: tuple[np.ndarray | None, ...] = ()
        else:
            types = self._types(node)
            known = node.op.infer_known(*node.inputs)
        for index, value in enumerate(node.outputs):
            if index >= len(types):
                raise TypeRuleError(f"has {len(node.outputs)} outputs, the op gives {len(types)}", node.title)
            self.set_type(value, types[index])
            elements = known[index] if index < len(known) else None
            value.known = elements if elements is not None and elements.size <= KNOWN_LIMIT else None

    def _region_types(self, node: Node) -> tuple[Type, ...]:
        try:
            return node.op.infer_regions(node, self)
        except TypeRuleError as error:
            raise error.at(node.title) from None

    def visible(self, node: Node) -> set[str]:
        """The dim names that types of a node's outputs may mention; fresh names keep clear of them."""
        names = names_of(node.inputs)
        self.used |= names
        return names

    def first_visit(self, node: Node) -> bool:
        """Whether this run has not yet seen the node; after that, what its regions take may only widen."""
        fresh = node not in self.visited
        self.visited.add(node)
        return fresh

    def decide(self, node: Node, condition: Fact) -> bool | None:
        """A condition that is not known, where the lengths of the run decide it; the node's decision until it asks
        again."""
        self.decisions.pop(node, None)
        if not self.lengths or condition.known is None or condition.known.size != 1:
            return None
        form = condition.known.flat[0]
        if not isinstance(form, Linear) or not dims.names_in(form) <= self.lengths.keys():
            return None
        try:
            answer = bool(dims.evaluate(form, self.lengths))
        except ValueError:
            return None
        self.decisions[node] = form, answer
        return answer

    def _types(self, node: Node) -> tuple[Type, ...]:
        try:
            types = as_types(node.op.infer(*node.inputs))
        except TypeRuleError as error:
            if not self.depth:
                raise error.at(node.title) from None
            # The body of a loop that never runs, or a branch never taken, may be ill-shaped: `run` decides.
            return self._unshaped(node, error)
        self.ill_typed.discard(node)
        return types

    def _unshaped(self, node: Node, error: TypeRuleError) -> tuple[Type, ...]:
        try:
            types = as_types(node.op.infer(*(None if x is None else Known(unshaped(x.type)) for x in node.inputs)))
        except TypeRuleError:
            raise error.at(node.title) from None
        self.problems.append(str(error.at(node.title)))
        self.ill_typed.add(node)
        return types

    def set_type(self, value: Value, type: Type) -> None:
        """Give a value its type, every unknown dim of a tensor named after the value."""
        shape = type.shape if isinstance(type, TensorType) else UNRANKED
        if isinstance(type, TensorType) and not isinstance(shape, AnyShape) and any(d is UNKNOWN for d in shape):
            type = TensorType(type.dtype, tuple(self._named(value, axis, d) for axis, d in enumerate(shape)))
        value.type = type

    def _named(self, value: Value, axis: int, dim: Dim) -> Dim:
        if dim is not UNKNOWN:
            return dim
        old = value.type.shape if isinstance(value.type, TensorType) else UNRANKED
        if not isinstance(old, AnyShape) and axis < len(old) and self.is_own(value, old[axis]):
            return old[axis]
        hint = f"{value.name}.{axis}"
        text, count = hint, self.counts.get(hint, 0)
        while text in self.used:
            count += 1
            text = f"{hint}'{count}"
        self.used.add(text)
        self.counts[hint] = count
        self.owners[text] = value
        return dims.name(text)

    def is_own(self, value: Value, dim: Dim) -> bool:
        """Whether a dim is the bare name that this run gave to an axis of `value`."""
        if not isinstance(dim, Linear) or dim.constant or len(dim.terms) != 1:
            return False
        atom, k = dim.terms[0]
        return k == 1 and isinstance(atom, str) and self.owners.get(atom) is value


def unshaped(type: Type) -> Type:
    """The type with every shape forgotten."""
    match type:
        case TensorType():
            return TensorType(type.dtype)
        case SequenceType():
            return SequenceType(unshaped(type.element))
        case OptionalType():
            return OptionalType(unshaped(type.element))
        case MapType():
            return type


def names_in_type(type: Type) -> set[str]:
    """Every dim name a type mentions."""
    match type:
        case TensorType():
            shape = () if isinstance(type.shape, AnyShape) else type.shape
            return set[str]().union(*(dims.names_in(dim) for dim in shape))
        case SequenceType() | OptionalType():
            return names_in_type(type.element)
        case MapType():
            return set()


def names_of(facts: Iterable[Fact | None]) -> set[str]:
    """Every dim name that facts mention, in types or in known elements."""
    names: set[str] = set()
    for fact in facts:
        if fact is not None:
            names |= names_in_type(fact.type)
            if fact.known is not None:
                names = names.union(*(dims.names_in(element) for element in fact.known.flat))
    return names


def escape(type: Type, visible: set[str]) -> Type:
    """A type as seen outside a region: dims over names that are not visible there become unknown."""
    match type:
        case TensorType() if not isinstance(type.shape, AnyShape):
            shape = (dim if dims.names_in(dim) <= visible else UNKNOWN for dim in type.shape)
            return TensorType(type.dtype, tuple(shape))
        case SequenceType():
            return SequenceType(escape(type.element, visible))
        case OptionalType():
            return OptionalType(escape(type.element, visible))
        case _:
            pass
    return type


def region_title(node: Node, index: int) -> str:
    """`body of Loop 'rollout'`, `then_branch of If 'c'`."""
    return f"{node.regions[index].name or 'body'} of {format_title(node.op.name, node.name)}"
