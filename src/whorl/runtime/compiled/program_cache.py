"""Compiled subgraphs: nodes without long loops, and their program cache, one program for each signature of inputs.

A signature is the shapes of the inputs; where shapes inside follow from small integer inputs, also what those hold. Of
eight signatures at most are programs made; whatever else comes is interpreted. Inside an interpreted body a signature
must have been met often before it is compiled, so that shapes that grow with the iterations compile nothing. Constants
and packed weights are made once for all signatures.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from whorl.ir.constants import Constant
from whorl.ir.dtypes import INTEGERS
from whorl.ir.forking import renew_in_children
from whorl.ir.graph import Node, Op, Region, Value
from whorl.ir.types import Known, TensorType, tensor
from whorl.ir.walk import clone_node
from whorl.lowering.expressions import LoweringFault, TooLong, Unsupported
from whorl.lowering.graphs import Folded, GraphProgram, lower_graph
from whorl.lowering.storage import NATIVE
from whorl.lowering.work import work_of
from whorl.ops.control.flow import If, Loop
from whorl.runtime.compiled.background import compile_aside, in_background
from whorl.runtime.compiled.launch import CONTIGUOUS, Launch
from whorl.runtime.compiled.refusals import Refusal, refusal_of
from whorl.runtime.credit import Credit
from whorl.runtime.limits import Budget

MOST_NODES, MOST_STATEMENTS = 512, 96
"""Nodes and outermost statements of one segment: LLVM takes longer for a long function than for several short ones."""
FAR_TOO_LONG = 4 * MOST_STATEMENTS
"""Statements from which lowering stops before anything is optimised, which may leave fewer."""
MOST_SIGNATURES = 8
"""Signatures that a segment is compiled for; whatever else it meets is interpreted."""
MOST_VALUES = 1024
"""Inputs and outputs of a node in a segment: memory is planned by looking at all pairs."""
HOT = 4096
"""Nodes that are interpreted inside a loop before their segment is compiled."""
REPEATED = 2
"""Runs with the same trip count before a segment is compiled for it, where its loop needs one that is known."""
FEW_NODES, SMALL = 2, 4096
"""A segment of so few nodes and elements, among other steps, is as fast interpreted."""
MOST_WATCHED = 16
"""Elements of an integer input that a program may be made for."""
MOST_TRIPS, MOST_WORK = 1 << 12, 1 << 24
"""Iterations, and innermost statements, of loops that a subgraph may hold: a limit on iterations cannot see them."""
Signature = tuple


def is_native_candidate(node: Node) -> bool:
    """Whether a segment may hold a node: one with a native form, all values tensors of element types with code."""
    values = [v for v in (*node.inputs, *node.outputs) if v is not None]
    if (
        not node.outputs
        or len(values) > MOST_VALUES
        or not all(isinstance(v.type, TensorType) and v.type.dtype in NATIVE for v in values)
    ):
        return False
    if isinstance(node.op, If | Loop):
        inner = [n for region in node.regions for n in region.nodes]
        return all(isinstance(n.op, Constant) or is_native_candidate(n) for n in inner)
    kind = type(node.op)
    has_form = kind.lower is not Op.lower or kind.decompose is not Op.decompose
    return has_form and not node.regions


def holds_loop(node: Node) -> bool:
    return isinstance(node.op, Loop) or any(holds_loop(n) for region in node.regions for n in region.nodes)


class Segment:
    """A subgraph of consecutive nodes, and its program cache: one `Launch` or `Refusal` for each signature.

    Threads may ask at once: `pending` holds signatures that one of them compiles, while the others interpret.
    """

    def __init__(
        self, nodes: Sequence[Node], inputs: Sequence[Value], results: Sequence[Value], constants: Sequence[Node]
    ) -> None:
        self.size, self.constants = len(nodes), len(constants)
        self.title = f"{nodes[0].title} to {nodes[-1].title}" if len(nodes) > 1 else nodes[0].title
        self.region = _region(nodes, inputs, results, constants)
        self.dtypes = [tensor(v).dtype for v in inputs]
        self.loop = next((n for n, node in enumerate(nodes) if holds_loop(node)), None)
        self.watched: tuple[int, ...] = ()
        self.found: dict[Signature, Launch | Refusal] = {}
        self.pending: set[Signature] = set()
        self.seen: dict[Signature, int] = {}
        self.is_late = False
        self.folded = Folded()
        self.lock = threading.Lock()
        renew_in_children(self)

    def renew(self) -> None:
        """In the child of a fork, where nothing is under way."""
        self.lock = threading.Lock()
        self.pending.clear()

    def find(
        self, arrays: Sequence[np.ndarray], in_loop: bool, whole: bool, check: Callable[[], None] | None, credit: Credit
    ) -> Launch | Refusal | None:
        """The native form for these inputs; a refusal where there is none, None where there is none yet.

        `whole`: nothing else runs before or after. Compiling is waited for unless `check` raises, and goes on in the
        background then, or if there is no `check`.
        """
        key = self.signature(arrays)
        found = self.found.get(key)
        self.is_late = found is None and credit.is_spent and not in_loop
        if found is not None or self.is_late or not self._is_due(key, in_loop):
            return found
        request = Request([x.dtype for x in arrays], [x.shape for x in arrays], _small_integers(arrays), whole)
        if check is None:
            in_background(self._compile, key, request)
            return None
        with credit.charged(self.size):
            compile_aside(self._compile, (key, request), check)
        return self.found.get(self.signature(arrays))

    def signature(self, arrays: Sequence[np.ndarray]) -> Signature:
        """What a program depends on: shapes, and the elements of watched inputs."""
        shapes = tuple([x.shape for x in arrays])
        return (shapes, *(contents(arrays[n]) for n in self.watched)) if self.watched else shapes

    def accepts(self, arrays: Sequence[object]) -> bool:
        """Whether every input is an array of the element type that its value has."""
        pairs = zip(arrays, self.dtypes, strict=True)
        return all(type(x) is np.ndarray and x.dtype == dtype for x, dtype in pairs)

    def run(self, launch: Launch, arrays: Sequence[np.ndarray], budget: Budget) -> list[np.ndarray] | None:
        """The results; None if the program failed."""
        given = [arrays[n] for n in launch.graph.inputs]
        ready = [x if x.flags.num & CONTIGUOUS == CONTIGUOUS else np.array(x, order="C") for x in given]
        return launch.run(ready, budget)

    def _is_due(self, key: Signature, in_loop: bool) -> bool:
        """Whether to compile for a signature now; it is then marked as under way."""
        with self.lock:
            if key in self.found or key in self.pending or len(self.found) + len(self.pending) >= MOST_SIGNATURES:
                return False
            if len(self.seen) >= MOST_SIGNATURES and key not in self.seen:
                self.seen.clear()
            self.seen[key] = seen = self.seen.get(key, 0) + 1
            varies = bool(self.watched) and self.loop is not None
            if seen * self.size < HOT if in_loop else varies and seen < REPEATED:
                return False
            self.pending.add(key)
            return True

    def _compile(self, key: Signature, request: Request) -> None:
        """Find the native form, if need be one for what small integer inputs hold: shapes may follow from that."""
        found = self._attempt(request, self.watched)
        watched = self.watched
        if isinstance(found, Refusal) and found.position is not None and not watched and request.integers:
            again = self._attempt(request, tuple(request.integers))
            if isinstance(again, Launch):
                found, watched = again, tuple(request.integers)
        if isinstance(found, Refusal) and watched:
            found = replace(found, position=None)
        with self.lock:
            self.pending.discard(key)
            if watched != self.watched:
                self.found.clear()
                self.watched = watched
                key = (key, *(contents(request.integers[n]) for n in watched))
            self.found[key] = found

    def _lowered(self, facts: list[Known]) -> GraphProgram:
        """The program; loops that only the run bounds may run as often as their bodies are short."""
        most = FAR_TOO_LONG if self.size > 1 else None
        graph = lower_graph(self.region, facts, self.folded, MOST_TRIPS, most)
        room = MOST_WORK // max(1, work_of(graph.program, MOST_TRIPS)) if self.loop is not None else 0
        if room < 2 or work_of(graph.program, 2 * MOST_TRIPS) == work_of(graph.program, MOST_TRIPS):
            return graph
        longer = lower_graph(self.region, facts, self.folded, room * MOST_TRIPS)
        return longer if work_of(longer.program, room * MOST_TRIPS) <= MOST_WORK else graph

    def _attempt(self, request: Request, watched: tuple[int, ...]) -> Launch | Refusal:
        if not request.whole and self.size <= FEW_NODES and not request.is_large:
            return Refusal("it is too little to be worth it")
        try:
            graph = self._lowered(request.facts(watched))
            if len(graph.program.calls) >= self.size:
                return Refusal("no node has a native form")
            if self.loop is not None and work_of(graph.program, MOST_TRIPS) > MOST_WORK:
                return Refusal("it may take long", self.loop)
            if len(graph.program.body) > MOST_STATEMENTS and self.size > 1:
                raise TooLong(len(graph.program.body))
            return Launch(graph)
        except TooLong as error:
            return Refusal(str(error), None, min(self.size, math.ceil(error.statements / MOST_STATEMENTS)))
        except Exception as error:
            cause = error.cause if isinstance(error, LoweringFault) else error
            if isinstance(cause, RecursionError) and self.size > 1:
                return Refusal("it is too deep for one program", None, 2)
            return refusal_of(error, self.title, self._position(error))

    def _position(self, error: Exception) -> int | None:
        """The number of the node that lowering could not do, if it was one."""
        node = error.node if isinstance(error, Unsupported) else None
        return self.region.nodes.index(node) - self.constants if node in self.region.nodes else None


@dataclass(frozen=True)
class Request:
    """What a program is asked for: types of the inputs, and the contents of small integer ones."""

    dtypes: list[np.dtype]
    shapes: list[tuple[int, ...]]
    integers: dict[int, np.ndarray]
    whole: bool

    @property
    def is_large(self) -> bool:
        return any(math.prod(shape) > SMALL for shape in self.shapes)

    def facts(self, watched: Sequence[int]) -> list[Known]:
        """The inputs' types, and the elements of the watched ones."""
        facts = [Known(TensorType(d, s)) for d, s in zip(self.dtypes, self.shapes, strict=True)]
        for n in set(watched) & self.integers.keys():
            facts[n] = Known(facts[n].type, self.integers[n].astype(object))
        return facts


def contents(array: np.ndarray) -> bytes | None:
    """What tells apart the arrays for whose elements programs are made; None for one that is too large."""
    return array.tobytes() if array.size <= MOST_WATCHED else None


def _small_integers(arrays: Sequence[np.ndarray]) -> dict[int, np.ndarray]:
    return {n: x.copy() for n, x in enumerate(arrays) if x.dtype in INTEGERS and x.ndim <= 1 and x.size <= MOST_WATCHED}


def _region(
    nodes: Sequence[Node], inputs: Sequence[Value], results: Sequence[Value], constants: Sequence[Node]
) -> Region:
    region = Region("segment")
    values: dict[Value, Value] = {v: region.add_argument(v.name, v.type) for v in inputs}
    region.nodes = [clone_node(node, values) for node in (*constants, *nodes)]
    region.results = [values[v] for v in results]
    return region
