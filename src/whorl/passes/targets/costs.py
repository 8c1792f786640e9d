"""What a model takes in a runtime, by the prices of its ops and loops, at lengths that runs are expected to have.

A loop that its body ends is expected to end after few iterations: what computes all of them at once may then take
longer. Of two branches a run takes one or the other.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

from whorl.ir import dims
from whorl.ir.dims import Dim
from whorl.ir.graph import Node, Region, Value
from whorl.ir.types import AnyShape, TensorType
from whorl.ops.control.flow import If, Loop, known_bool
from whorl.ops.core.base import known_dims
from whorl.ops.linear.products import Gemm, MatMul
from whorl.ops.movement.indexing import Gather
from whorl.ops.movement.selection import Compress
from whorl.ops.recurrent.rnn import Recurrent
from whorl.ops.reduce.cumulative import CumSum
from whorl.ops.reduce.reductions import ArgumentReduction, Reduction
from whorl.passes.rules.pattern import constant_of, tensor_type
from whorl.passes.simplify_loop import iterations
from whorl.passes.targets.targets import Prices

EXPECTED = 16
"""The length of an open dim, unless a caller says more, and the number of iterations that nothing tells."""
EARLY = 2
"""The iterations that a loop runs which its body may end."""
LONGEST = 1 << 40
"""What a length counts for at most."""


class Costs:
    """Microseconds that a region takes; `lengths` are those of named dims that are expected."""

    def __init__(self, prices: Prices, lengths: Mapping[str, int]) -> None:
        self.prices, self.lengths = prices, lengths

    def expect(self, name: str) -> int:
        """The length that is expected of a named dim."""
        return self.lengths.get(name, EXPECTED)

    def model(self, region: Region) -> float:
        """What a run takes."""
        return self.prices.run + self.region(region)

    def region(self, region: Region, is_body: bool = False) -> float:
        """What the nodes of a region take, which may be a body or lie in one."""
        return sum(self.node(node, is_body) for node in region.nodes)

    def node(self, node: Node, is_inner: bool = False) -> float:
        """What a node takes; nothing, where constants decide what it gives."""
        prices = self.prices
        if isinstance(node.op, Loop):
            return self._loop(node)
        if isinstance(node.op, If):
            branches = [self.region(region, is_inner) for region in node.regions]
            return (prices.inner_branch if is_inner else prices.branch) + sum(branches) / len(branches)
        if all(value is None or constant_of(value) is not None for value in node.inputs):
            return 0.0
        return self._price(node, is_inner) + self._work(node, is_inner) / 1000

    def _price(self, node: Node, is_inner: bool) -> float:
        """Microseconds for a node, whatever its size."""
        if not is_inner:
            are_lengths = all(value.known is not None for value in node.outputs)
            return self.prices.lengths if are_lengths else self.prices.op
        return self.prices.scalar if self._elements(node.outputs) <= 1 else self.prices.inner

    def trips(self, node: Node) -> int:
        """The iterations of a loop that are expected."""
        assert isinstance(node.op, Loop)
        trip, condition, _, scanned, _ = node.op.split(node.inputs)
        lengths = [how.length(tensor_type(x)) for x, how in zip(scanned, node.op.scanned, strict=True)]
        lengths += (known_dims(trip) or ()) if trip is not None else ()
        counts = [self.length(length) for length in lengths] or [EXPECTED]
        most = iterations(node)[1]
        count = int(min(*counts, most, LONGEST))
        ends = condition is not None and known_bool(node.regions[0].results[0]) is not True
        return min(count, EARLY) if ends else count

    def length(self, dim: Dim) -> int:
        """The length that is expected of a dim."""
        try:
            return min(max(dims.evaluate(dim, {name: self.expect(name) for name in dims.names_in(dim)}), 0), LONGEST)
        except ValueError:
            return EXPECTED

    # ---- kinds of nodes ----------------------------------------------------------------------------------------

    def _loop(self, node: Node) -> float:
        each = self.prices.iteration + self.region(node.regions[0], is_body=True)
        return self.prices.loop + self.trips(node) * each

    def _work(self, node: Node, is_inner: bool) -> float:
        """Nanoseconds for the elements of a node."""
        prices, op = self.prices, node.op
        results = self._elements(node.outputs)
        match op:
            case Recurrent():
                return self._recurrent(node)
            case MatMul() | Gemm():
                packed = 0 if is_inner else self._elements(node.inputs[:2]) * prices.packed
                return packed + results * (prices.element + prices.product * self._inner(node))
            case Compress():  # guesses wrong which elements stay
                return 2 * self._elements(node.inputs[1:2]) * prices.serial + results * prices.element
            case CumSum():
                return results * prices.serial
            case Gather():
                return results * prices.element
            case Reduction() | ArgumentReduction():
                return self._elements(node.inputs[:1]) * prices.element
            case _:
                return results * prices.element

    def _recurrent(self, node: Node) -> float:
        """A layer goes row by row, gate by gate, and makes an element of each by products with weights."""
        prices = self.prices
        x, weights, again = (self._shape(value) for value in node.inputs[:3])
        if len(x) != 3 or len(weights) != 3 or len(again) != 3:
            return 1000 * prices.layer
        steps, gates = math.prod(x[:2]) * weights[0], weights[1] / max(again[2], 1)
        products = math.prod(weights[1:]) + math.prod(again[1:])
        each = 1000 * gates * prices.step + products * prices.product + weights[1] * prices.element
        return 1000 * prices.layer + steps * each

    def _inner(self, node: Node) -> int:
        """The products of one element of a matrix product."""
        shape = self._shape(node.inputs[0])
        transposed = isinstance(node.op, Gemm) and node.op.transA
        return shape[0 if transposed else -1] if shape else 1

    def _elements(self, values: Iterable[Value | None]) -> int:
        return sum(math.prod(self._shape(value)) for value in values)

    def _shape(self, value: Value | None) -> tuple[int, ...]:
        type = None if value is None else value.type
        if not isinstance(type, TensorType) or isinstance(type.shape, AnyShape):
            return ()
        return tuple(map(self.length, type.shape))
