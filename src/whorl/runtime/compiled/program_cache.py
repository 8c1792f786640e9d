"""The program cache of a subgraph: one program for each pattern of shapes.

A pattern has names for all lengths but 0 and 1 (`binding`); where shapes inside follow from small integer inputs, also
their elements. So one program serves nearly all shapes, each of which it is bound to once. Inside an interpreted body a
pattern must have come often before it is compiled. Constants and packed weights are made once for all programs.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from whorl.ir.collector import collector_paused
from whorl.ir.dtypes import INTEGERS
from whorl.ir.forking import renew_in_children
from whorl.ir.graph import Node, Region, Value, walk
from whorl.ir.types import AnyShape, Known, SequenceType, TensorType, tensor
from whorl.ir.walk import clone_node
from whorl.lowering.expressions import LoweringFault, TooLong, Unsupported
from whorl.lowering.graph_program import GraphProgram
from whorl.lowering.graphs import Folded, lower_graph
from whorl.lowering.storage import rows_type
from whorl.runtime.compiled.background import await_compiled, compile_aside, compile_in_background, spend
from whorl.runtime.compiled.binding import (
    LEAST,
    MOST_BOUND,
    MOST_SPECIALISED,
    NEVER,
    Binder,
    Binding,
    Pattern,
    Signature,
    contents_of,
    first_variant,
    is_last_variant,
    signature_of,
    variants,
)
from whorl.runtime.compiled.candidates import has_loop, trip_counts
from whorl.runtime.compiled.compile_graph import compile_graph
from whorl.runtime.compiled.launch import CONTIGUOUS, NOWHERE, BoundLaunch, Launch
from whorl.runtime.compiled.memory import stack_sequence, state_signature
from whorl.runtime.compiled.refusals import Refusal, refusal_of
from whorl.runtime.limits import Budget
from whorl.runtime.values import is_array, is_sequence

MOST_NODES, FAR_TOO_LONG = 2048, 4096
"""Nodes of one subgraph, and outermost statements from which its lowering stops: memory is planned by looking at all
pairs of what lies there at once."""
MOST_STATEMENTS = 128
"""Outermost statements that LLVM optimises for a program, in which equal nests count once: it takes longer for a long
function than for several short ones, and a run compiles no more programs than its credit allows."""
MOST_PROGRAMS = 64
"""Programs of a subgraph that are kept; the one that was not used for the longest time goes first."""
MOST_ATTEMPTS = 8
"""Programs, or refusals of them, of a loop that runs on its own after which it is lowered for no lengths of its own."""
HOT = 4096
"""Nodes that are interpreted inside a loop before their subgraph is compiled."""
REPEATED = 2
"""Runs with the same trip count before a subgraph is compiled for it, where its loop needs one that is known."""
FEW_NODES, SMALL = 2, 4096
"""A subgraph of so few nodes and elements, among other steps, is as fast interpreted."""
MOST_QUICK = 1 << 20
"""Elements of the largest input from which all code is optimised before its first run."""


class ProgramCache:
    """One `Launch` or `Refusal` for each signature of a subgraph: `steps` consecutive nodes, `size` with those inside.

    Its programs fail where a loop wants more than `most_iterations`. Some iterations of a loop that runs on its own are
    always worth it; inputs that are `varying` from slice to slice are those of such a loop alone. Threads may ask at
    once: `pending` are the patterns that one of them compiles, and the events that are set once it has. Others that
    may wait do: what the interpreter makes of functions and sums differs in last bits.
    """

    def __init__(
        self,
        nodes: Sequence[Node],
        inputs: Sequence[Value],
        results: Sequence[Value],
        constants: Sequence[Node],
        most_iterations: int | None = None,
        varying: Collection[Value] = (),
    ) -> None:
        self.most_iterations, self.is_slice = most_iterations, bool(varying)
        self.varying = [n for n, v in enumerate(inputs) if v in varying]
        self.steps, self.constants = len(nodes), len(constants)
        inner = [node for each in nodes for region in each.regions for node in walk(region)]
        self.size = len(nodes) + len(inner)
        self.title = f"{nodes[0].title} to {nodes[-1].title}" if len(nodes) > 1 else nodes[0].title
        self.region = region_of(nodes, inputs, results, constants)
        self.is_heavy = any(node.op.heavy for node in (*nodes, *inner))
        types = [tensor(Known(rows_type(v.type))) for v in inputs]
        self.dtypes = [type.dtype for type in types]
        self.loop = next((n for n, node in enumerate(nodes) if has_loop(node)), None)
        self.binder = Binder(types, trip_counts(nodes, inputs))
        self.sequences = [n for n, v in enumerate(inputs) if isinstance(v.type, SequenceType)]
        self.specialised: tuple[int, ...] = ()
        self.programs: dict[Pattern, Launch | Refusal] = {}
        self.recent: dict[Signature, BoundLaunch | Refusal] = {}
        self.pending: dict[Pattern, threading.Event] = {}
        self.requests: dict[Pattern, int] = {}
        self.is_late = False
        self.folded = Folded()
        self.lock = threading.Lock()
        renew_in_children(self)

    def renew(self) -> None:
        """In the child of a fork, where nothing is under way."""
        self.lock = threading.Lock()
        self.pending.clear()

    def find(
        self, arrays: Sequence[np.ndarray], in_loop: bool, is_alone: bool, budget: Budget, waits: bool
    ) -> BoundLaunch | Refusal | None:
        """The program for these inputs; a refusal where none is possible, None where there is none yet.

        `is_alone`: nothing else runs before or after. `waits` for the compiler unless a limit is passed, and lets it
        go on in the background then; else it compiles in the background at once.
        """
        known = self.recent.get(self.signature(arrays))
        if known is not None:
            return known
        bound = self._bound(arrays, lambda each: self._program(each, arrays, in_loop, is_alone, budget, waits))
        if bound is not None:
            self._remember(arrays, bound)
        return bound

    def find_compiled(self, arrays: Sequence[np.ndarray]) -> BoundLaunch | None:
        """The program for these inputs where it is compiled already; the caller remembers it."""
        known = self.recent.get(self.signature(arrays))
        if known is None:
            known = self._bound(arrays, lambda each: self._variant(each, arrays)[1])
        return known if isinstance(known, BoundLaunch) else None

    def _bound(
        self, arrays: Sequence[np.ndarray], choose: Callable[[Binding], Launch | Refusal | None]
    ) -> BoundLaunch | Refusal | None:
        """What is chosen for the first binding of these inputs that it is of use for; None where nothing is."""
        bound = None
        for binding in self._bindings(arrays):
            program = choose(binding)
            if program is None:
                return None
            bound = self._bind(program, binding)
            if isinstance(program, Launch) and (not binding.is_unusual or program.suits(binding.lengths)):
                break
        return bound

    def _program(
        self,
        binding: Binding,
        arrays: Sequence[np.ndarray],
        in_loop: bool,
        is_alone: bool,
        budget: Budget,
        waits: bool,
    ) -> Launch | Refusal | None:
        """The program of a pattern, compiled if it is time to; None where there is none yet."""
        while True:
            with self.lock:
                pattern, program = self._variant(binding, arrays)
                self.is_late = program is None and budget.credit.is_spent and not in_loop
                if program is not None:
                    return program
                done = self.pending.get(pattern)
                if done is None:
                    if self.is_late or not self._is_due(pattern, in_loop):
                        return None
                    self.pending[pattern] = threading.Event()
                    break
            if not waits:
                return None
            await_compiled(done, budget.check)
        decides = not is_last_variant(pattern)
        dtypes, integers = [x.dtype for x in arrays], _small_integers(arrays, self.varying)
        largest = max((x.size for x in arrays), default=0)
        request = Request(dtypes, binding, integers, is_alone, largest, decides, waits)
        compile_it = partial(self._compile, pattern, request)
        if not waits:
            compile_in_background(compile_it)
            return None
        with spend(budget.credit, self.steps):
            compile_aside(compile_it, budget.check)
        return self._variant(binding, arrays)[1]

    def _variant(self, binding: Binding, arrays: Sequence[np.ndarray]) -> tuple[Pattern, Launch | Refusal | None]:
        """The program for what these lengths decide, and its pattern; of the next one where there is none yet."""
        pattern: Pattern = ()
        for pattern in variants(binding.pattern(arrays, self.specialised)):
            program = self.programs.get(pattern)
            if not isinstance(program, Launch) or program.graph.decides_alike(binding.lengths):
                return pattern, program
        raise AssertionError("the last variant decides nothing")

    def _bindings(self, arrays: Sequence[np.ndarray]) -> Iterator[Binding]:
        """What these inputs are bound to: names, then 0 and 1 themselves where the program with names is no use.

        Last, for a loop that runs on its own, lengths themselves that have no name in the model: they may be equal.
        """
        binding = self.binder.bind(arrays)
        yield binding
        if binding.is_unusual:
            yield self.binder.bind(arrays, LEAST)
        own = self.binder.bind(arrays, LEAST, NEVER) if self.is_slice else None
        if own is not None and (len(self.programs) < MOST_ATTEMPTS or self._variant(own, arrays)[1] is not None):
            yield own

    def _bind(self, program: Launch | Refusal, binding: Binding) -> BoundLaunch | Refusal:
        """The program bound to the lengths of these inputs."""
        try:
            bound = program if isinstance(program, Refusal) else program.bind(binding.lengths)
        except (ValueError, OverflowError) as error:
            bound = Refusal(str(error))
        return bound

    def _remember(self, arrays: Sequence[np.ndarray], bound: BoundLaunch | Refusal) -> None:
        with self.lock:
            while len(self.recent) >= MOST_BOUND:
                del self.recent[next(iter(self.recent))]
            self.recent[self.signature(arrays)] = bound

    def pattern_of(self, launch: Launch) -> Pattern | None:
        """The pattern that a program is for; None for one that was dropped meanwhile."""
        return next((pattern for pattern, program in self.programs.items() if program is launch), None)

    def signature(self, arrays: Sequence[np.ndarray]) -> Signature:
        """The key of a bound program: shapes, and the elements of the inputs on which programs or lengths depend."""
        return signature_of(arrays, self.keyed)

    @property
    def keyed(self) -> tuple[int, ...]:
        """The inputs whose elements are part of the key of a bound program."""
        return (*self.specialised, *self.binder.counts)

    def require_arrays(self, values: Sequence[object]) -> list[np.ndarray] | None:
        """The inputs, if each is an array of the element type that its value has, or a sequence of equal arrays."""
        arrays: list[np.ndarray] = []
        if self.sequences:
            values = [self._stacked(n, x) if n in self.sequences else x for n, x in enumerate(values)]
        for x, dtype in zip(values, self.dtypes, strict=True):
            if type(x) is not np.ndarray or x.dtype != dtype:
                return None
            arrays.append(x)
        return arrays

    def _stacked(self, number: int, value: object) -> object:
        """The elements of a sequence as rows, if all are alike."""
        if state_signature(value) is None or not is_sequence(value):
            return value
        type = self.binder.types[number]
        if not value and (isinstance(type.shape, AnyShape) or not all(isinstance(n, int) for n in type.shape[1:])):
            return value
        return stack_sequence([x for x in value if is_array(x)], type)

    def run(
        self,
        launch: BoundLaunch,
        arrays: Sequence[np.ndarray],
        budget: Budget,
        into: Mapping[int, np.ndarray] = NOWHERE,
    ) -> list[Any] | None:
        """The outputs of a program, as `BoundLaunch.run` gives them; None if it failed."""
        inputs = [arrays[n] for n in launch.graph.inputs]
        ready = [x if x.flags.num & CONTIGUOUS == CONTIGUOUS else np.array(x, order="C") for x in inputs]
        return launch.run(ready, budget, into)

    def _is_due(self, pattern: Pattern, in_loop: bool) -> bool:
        """Whether to compile for a pattern that has no program now."""
        if len(self.requests) >= MOST_PROGRAMS and pattern not in self.requests:
            self.requests.clear()
        self.requests[pattern] = count = self.requests.get(pattern, 0) + 1
        varies = bool(self.specialised) and self.loop is not None
        is_hot = self.is_slice or not in_loop or count * self.size >= HOT
        return is_hot and not (varies and not in_loop and count < REPEATED)

    def _compile(self, pattern: Pattern, request: Request) -> None:
        """Make the program, and let those go on that wait for it; if it fails, one of them tries again."""
        try:
            program, specialised = self._specialise(request)
            with self.lock:
                self._add(pattern, request, program, specialised)
        finally:
            with self.lock:
                self.pending.pop(pattern).set()

    def _specialise(self, request: Request) -> tuple[Launch | Refusal, tuple[int, ...]]:
        """The program, if need be one specialised to small integer inputs, from which shapes may follow."""
        specialised = self.specialised
        program = self._attempt(request, specialised)
        if isinstance(program, Refusal) and program.position is not None and not specialised and request.integers:
            again = self._attempt(request, tuple(request.integers))
            if isinstance(again, Launch):
                program, specialised = again, tuple(request.integers)
        if isinstance(program, Refusal) and specialised:
            program = replace(program, position=None)
        return program, specialised

    def _add(self, pattern: Pattern, request: Request, program: Launch | Refusal, specialised: tuple[int, ...]) -> None:
        if specialised != self.specialised:
            self.programs.clear()
            self.recent.clear()
            self.specialised = specialised
            pattern = (*first_variant(pattern), *(contents_of(request.integers[n]) for n in specialised))
        while len(self.programs) >= MOST_PROGRAMS:
            self._forget(next(iter(self.programs)))
        self.programs[pattern] = program

    def _forget(self, pattern: Pattern) -> None:
        """Drop a program and what is bound to it."""
        program = self.programs.pop(pattern)
        for signature in [s for s, bound in self.recent.items() if getattr(bound, "launch", bound) is program]:
            del self.recent[signature]

    def _lower(self, request: Request, specialised: tuple[int, ...]) -> GraphProgram:
        facts, lengths = request.facts(specialised), request.binding.lengths if request.decides else None
        most = FAR_TOO_LONG if self.steps > 1 else None
        return lower_graph(
            self.region,
            facts,
            self.folded,
            most,
            takes_lengths=True,
            lengths=lengths,
            takes_objects=True,
            most_iterations=self.most_iterations,
            joins_blocks=True,
        )

    @collector_paused()
    def _attempt(self, request: Request, specialised: tuple[int, ...]) -> Launch | Refusal:
        is_worth_it = self.is_slice or request.is_alone or request.is_large or self.is_heavy
        if not is_worth_it and self.size <= FEW_NODES:
            return Refusal("it is too little to be worth it")
        try:
            graph = self._lower(request, specialised)
            if len(graph.program.calls) >= self.size:
                return Refusal("no node has a native form")
            return compile_graph(graph, MOST_STATEMENTS if self.steps > 1 else None, self._may_be_quick(request))
        except TooLong as error:
            return Refusal(str(error), None, min(self.steps, math.ceil(error.statements / MOST_STATEMENTS)))
        except Exception as error:
            cause = error.cause if isinstance(error, LoweringFault) else error
            if isinstance(cause, RecursionError) and self.steps > 1:
                return Refusal("it is too deep for one program", None, 2)
            return refusal_of(error, self.title, self._position(error))

    def _may_be_quick(self, request: Request) -> bool:
        """Whether code is optimised later: not where it runs in slices of a loop, one run takes long, or none waits."""
        return request.waits and not self.is_slice and request.elements <= MOST_QUICK

    def _position(self, error: Exception) -> int | None:
        """The index of the node that lowering refused, if it was one."""
        node = error.node if isinstance(error, Unsupported) else None
        return self.region.nodes.index(node) - self.constants if node in self.region.nodes else None


class Request(Struct, frozen=True):
    """The inputs that a program is made for: their types, and the contents of small integer ones.

    `elements` are those of the largest; `decides`: their lengths decide which branches it has; `waits`: a run does so
    for the program.
    """

    dtypes: list[np.dtype]
    binding: Binding
    integers: dict[int, np.ndarray]
    is_alone: bool
    elements: int
    decides: bool
    waits: bool

    @property
    def is_large(self) -> bool:
        return self.elements > SMALL

    def facts(self, specialised: Sequence[int]) -> list[Known]:
        """The inputs' types, and the elements of those that the program is specialised to."""
        facts = self.binding.facts(self.dtypes)
        for n in set(specialised) & self.integers.keys():
            facts[n] = Known(TensorType(self.dtypes[n], self.integers[n].shape), self.integers[n].astype(object))
        return facts


def _small_integers(arrays: Sequence[np.ndarray], varying: Collection[int]) -> dict[int, np.ndarray]:
    return {
        n: x.copy()
        for n, x in enumerate(arrays)
        if x.dtype in INTEGERS and x.ndim <= 1 and x.size <= MOST_SPECIALISED and n not in varying
    }


def region_of(
    nodes: Sequence[Node], inputs: Sequence[Value], results: Sequence[Value], constants: Sequence[Node]
) -> Region:
    """A region of copies of nodes, with the constants that they read."""
    region = Region("subgraph")
    values: dict[Value, Value] = {v: region.add_argument(v.name, v.type) for v in inputs}
    region.nodes = [clone_node(node, values) for node in (*constants, *nodes)]
    region.results = [values[v] for v in results]
    return region
