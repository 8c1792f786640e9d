"""The graph: ops and their registry, values, nodes, closed regions and the module."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, Protocol

import numpy as np
from msgspec import Struct, field

from whorl.errors import format_title
from whorl.ir.forking import import_whole
from whorl.ir.guards import is_scalar, is_tuple
from whorl.ir.intervals import Interval, Intervals
from whorl.ir.native.builder import NativeBuilder
from whorl.ir.native.view import Operands, View
from whorl.ir.registry import Registry
from whorl.ir.types import Fact, TensorType, Type, meet, same_kind


class Op(Struct, frozen=True):
    """One operation: a frozen struct whose fields are the attributes.

    `infer` gives the output types and is the only place that checks ranks, dims and dtypes; `run` computes on NumPy
    arrays and is the meaning of the op. A single result may be returned bare, several as a tuple.
    """

    domain: ClassVar[str] = ""
    """The ONNX domain that names the op."""
    abstract: ClassVar[bool] = True
    """Said by classes that are no ops themselves, each for itself."""
    pure: ClassVar[bool] = True
    """Equal inputs give equal outputs and nothing else happens: the op may be folded, merged and dropped."""
    symbolic: ClassVar[bool] = False
    """`run` also works on object arrays of dims, so that inference can follow shape arithmetic through it."""
    any_length: ClassVar[bool] = False
    """`lower` also takes tensors with lengths that only the run knows: dims in the place of numbers."""
    overwrites: ClassVar[int | None] = None
    """The number of the input over which the native form may write its result, where that is not read later."""
    heavy: ClassVar[bool] = False
    """`run` takes far longer than machine code, also on few elements: one node is worth a program of its own."""
    polymorphic: ClassVar[bool] = False
    """Of elements it asks no more than which are equal, so that it means the same of numbers for strings, 0 for the
    empty one."""
    moves_elements: ClassVar[bool] = False
    """Every element of an output is an element of the first input."""
    never_fails: ClassVar[bool] = False
    """Of tensors of known lengths that `infer` accepts, no element makes `run` fail: `is_total` without a look."""

    always_fails: ClassVar[bool] = False
    """No run gets beyond it."""

    def __init_subclass__(cls) -> None:
        if "abstract" in vars(cls):
            return
        REGISTRY.register(cls)

    @property
    def name(self) -> str:
        return type(self).__name__

    @property
    def can_repeat(self) -> bool:
        """It may run again where a run of native code fails half way and is interpreted."""
        return self.pure

    # `**options: Any` makes these signatures gradual: an override names the inputs that its op has.

    def infer(self, *inputs: Any, **options: Any) -> Type | tuple[Type, ...]:
        """Output types from input facts (None for an omitted input); raises TypeRuleError."""
        raise TypeError(f"{self.name} does not say its types")

    def run(self, *inputs: Any, **options: Any) -> Any:
        """Output arrays from input arrays (None for an omitted input); raises RunError."""
        raise TypeError(f"{self.name} does not run")

    def lazily(self, *inputs: Any, **options: Any) -> tuple[Any, ...] | None:
        """The outputs of large constants as `ir.elements`, computed as they are read; None where `run` must see all."""
        return None

    def lower(self, k: NativeBuilder, inputs: Operands, outputs: Sequence[TensorType]) -> Sequence[View] | None:
        """Native form: a view of each output, its elements expressions of `k` over the inputs' views.

        Every length is a number unless the op takes `any_length`. None where there is no such form; `run` then serves.
        """
        return None

    def decompose(self, inputs: Sequence[Value | None], build: NodeBuilder) -> Sequence[Value] | None:
        """The outputs as values of simpler nodes that `build` adds; None where the op stays as it is."""
        return None

    def separate_strings(self, inputs: Sequence[Value | None], build: NodeBuilder) -> Sequence[Value] | None:
        """The same outputs, bit by bit, from nodes that compute numbers and others that give strings; None where one
        node does not do both."""
        return None

    @property
    def keys_of_rows(self) -> tuple[str, ...] | tuple[int, ...]:
        """Of an op that makes a map of each row of its one operand, a table, the keys in order; else none."""
        return ()

    def numbered(self, inputs: Sequence[Fact | None], number: Callable[[str], int]) -> Op | None:
        """The op that does the same with a number for each string, by `number`; None where there is none."""
        return self if self.polymorphic else None

    def infer_known(self, *inputs: Any, **options: Any) -> tuple[np.ndarray | None, ...]:
        """The elements of each output, where they follow from the elements of the inputs."""
        if not self.symbolic or any(x is not None and x.known is None for x in inputs):
            return ()
        try:
            result = self.run(*(None if x is None else x.known for x in inputs))
        except (TypeError, ValueError, IndexError, ArithmeticError):
            return ()
        results = result if is_tuple(result) else (result,)
        return tuple(np.asarray(r, dtype=object) for r in results)

    def bounds(self, inputs: Intervals, operands: Sequence[Fact | None], result: Fact) -> Interval | None:
        """An interval of every element of the outputs, from those of the inputs; None where it is that of the type."""
        return inputs[0] if self.moves_elements else None

    def selected_operand(self, inputs: Intervals, operands: Sequence[Fact | None]) -> int | None:
        """The index of an operand that the result surely is, bit by bit, by the intervals of all; else None."""
        return None

    def is_total(self, inputs: Intervals, operands: Sequence[Fact | None], results: Sequence[Fact]) -> bool:
        """Whether operands of these types, in these intervals, surely give results: `run` raises for none but memory.

        Asked only where `infer` accepts the operands, and all values are tensors of known lengths that hold no text.
        """
        return self.never_fails

    def is_identity(self, inputs: Sequence[Fact | None], outputs: Sequence[Fact]) -> bool:
        """Whether the first output surely is the first input, bit by bit, and other outputs depend on nothing else."""
        return False

    def preserves_order(self, inputs: Sequence[Fact | None], outputs: Sequence[Fact]) -> bool:
        """Whether an output of the first input's type surely is that input: elements move only where lengths change."""
        return False

    def infer_regions(self, node: Node, inference: RegionInference) -> tuple[Type, ...]:
        """Output types of an op with regions; types the regions on the way."""
        raise TypeError(f"{self.name} has no regions")


REGISTRY: Registry[Op] = Registry()
"""Every concrete op class by name, loaded when it is asked for."""


def as_types(result: Type | tuple[Type, ...]) -> tuple[Type, ...]:
    """`infer`'s answer as a tuple."""
    return result if isinstance(result, tuple) else (result,)


def as_values(result: Any) -> tuple[Any, ...]:
    """`run`'s answer as a tuple in which every tensor is an array, zero-dimensional ones included."""
    results = result if is_tuple(result) else (result,)
    return tuple(map(as_value, results))


def as_value(value: Any) -> Any:
    """A value in which a NumPy scalar is an array of rank 0."""
    return np.array(value) if is_scalar(value) else value


class NodeBuilder(Protocol):
    """What adds nodes to a region, every value typed as soon as it exists, as ops see it."""

    @property
    def inference(self) -> RegionInference: ...
    def add(self, op: Op, *inputs: Value | None, name: str = "") -> Value:
        """Append a node and return its first output."""
        ...

    def add_many(
        self,
        op: Op,
        inputs: Sequence[Value | None],
        outputs: Sequence[str],
        regions: Sequence[Region] = (),
        name: str = "",
    ) -> list[Value]:
        """Append a node with named outputs and return them all, typed by inference."""
        ...

    def constant(self, value: Any, name: str = "const") -> Value:
        """Append a constant: anything with dtype and shape that is an array or has `numpy()`."""
        ...

    def int64(self, *elements: int, name: str = "const") -> Value:
        """Append a rank-1 int64 constant."""
        ...


class RegionInference(Protocol):
    """What types regions, as ops with regions see it."""

    def region(self, region: Region) -> None:
        """Infer every node of a region; the arguments keep the types they have."""
        ...

    def visible(self, node: Node) -> set[str]:
        """The dim names that types of a node's outputs may mention; fresh names keep clear of them."""
        ...

    def first_visit(self, node: Node) -> bool:
        """Whether this is the node's first visit; after that, what its regions take may only widen."""
        ...

    def set_type(self, value: Value, type: Type) -> None:
        """Give a value its type, every unknown dim of a tensor named after the value."""
        ...


class Value:
    """A result of a node or an argument of a region. The name is a hint and need not be unique."""

    __slots__ = ("index", "known", "name", "owner", "type")

    def __init__(
        self, name: str, type: Type, owner: Node | Region, index: int, known: np.ndarray | None = None
    ) -> None:
        self.name, self.type, self.owner, self.index, self.known = name, type, owner, index, known

    def __repr__(self) -> str:
        return f"%{self.name}: {self.type}"


class Node:
    """An op applied to values. `None` among the inputs is an omitted one; an If or Loop also has regions."""

    __slots__ = ("inputs", "name", "op", "outputs", "regions")

    def __init__(self, op: Op, inputs: Sequence[Value | None], regions: Sequence[Region] = (), name: str = "") -> None:
        self.op, self.inputs, self.regions, self.name = op, list(inputs), tuple(regions), name
        self.outputs: list[Value] = []

    @property
    def title(self) -> str:
        """`Gather 'read_row'`: the kind and the name, or the first output's name where the node has none."""
        return format_title(self.op.name, self.name or (self.outputs[0].name if self.outputs else ""))

    def __repr__(self) -> str:
        return f"<{self.title}>"


class Region:
    """A closed piece of program: it reads its arguments and nothing else, so it is a function with a signature."""

    __slots__ = ("arguments", "name", "nodes", "results")

    def __init__(self, name: str = "") -> None:
        self.name = name
        self.arguments: list[Value] = []
        self.nodes: list[Node] = []
        self.results: list[Value] = []

    def add_argument(self, name: str, type: Type, known: np.ndarray | None = None) -> Value:
        value = Value(name, type, self, len(self.arguments), known)
        self.arguments.append(value)
        return value

    def set_arguments(self, arguments: Iterable[Value]) -> None:
        """Let these be the arguments, numbered in this order."""
        self.arguments = list(arguments)
        for index, value in enumerate(self.arguments):
            value.index = index

    def used_values(self) -> set[Value | None]:
        """What the region's own nodes and its results use; nested regions use what their node captures."""
        return set[Value | None](self.results).union(*(node.inputs for node in self.nodes))

    def replace_uses(self, values: Mapping[Value, Value]) -> None:
        """Let the nodes and results of the region use other values."""
        for node in self.nodes:
            node.inputs = [None if value is None else values.get(value, value) for value in node.inputs]
        self.results = [values.get(value, value) for value in self.results]

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickled as flat tables: a chain of nodes is then no deeper for pickle than a single one."""
        index = {value: k for k, value in enumerate(self.arguments)}
        nodes: list[tuple[Any, ...]] = []
        for node in self.nodes:
            inputs = [-1 if value is None else index[value] for value in node.inputs]
            index |= {value: len(index) + k for k, value in enumerate(node.outputs)}
            outputs = [(value.name, value.type, value.known) for value in node.outputs]
            nodes.append((node.op, node.name, inputs, outputs, node.regions))
        arguments = [(value.name, value.type, value.known) for value in self.arguments]
        return _rebuild_region, (self.name, arguments, nodes, [index[value] for value in self.results])


class State(Struct):
    """A value that lasts from one run to the next.

    `input` names the argument of `main` that brings it in, `output` the result that it is afterwards. `initial` gives
    the value of the first run from inputs that are no states, which its arguments are called like; without it that is
    zeros, none along axes of unknown length. `flag` names another state, a truth value: whether this one has a value;
    what computes the first one is then inside `main`.
    """

    name: str
    input: str
    output: str
    initial: Region | None = None
    flag: str = ""


class Module(Struct):
    """A program: its main region, the names callers use, and what the file said about itself.

    `output_names` are the callers' names of `main.results`; the inputs are called as `main.arguments` are.
    `defaults` holds values for inputs that a caller may leave out, `declared` what the file says of outputs' types,
    `states` the inputs and outputs that a session connects itself.
    """

    main: Region
    output_names: list[str] = field(default_factory=list[str])
    defaults: dict[str, Any] = field(default_factory=dict[str, Any])
    declared: dict[str, Type] = field(default_factory=dict[str, Type])
    metadata: dict[str, Any] = field(default_factory=dict[str, Any])
    states: list[State] = field(default_factory=list[State])

    @property
    def visible_outputs(self) -> list[str]:
        """The names of the outputs that are no states."""
        hidden = {state.output for state in self.states}
        return [name for name in self.output_names if name not in hidden]

    def output_types(self) -> dict[str, Type]:
        """The type of each output: what inference proved, with what only the file declares filled in."""
        types: dict[str, Type] = {}
        for name, value in zip(self.output_names, self.main.results, strict=True):
            declared = self.declared.get(name, value.type)
            types[name] = meet(value.type, declared) if same_kind(declared, value.type) else declared
        return types

    def _repr_html_(self) -> str:
        """The page that `whorl.explore` makes, for notebooks."""
        return import_whole("whorl.api.exploring.exploring").explore(self)._repr_html_()

    def nodes(self) -> Iterator[Node]:
        """Every node of every region, outer before inner."""
        return walk(self.main)


def walk(region: Region) -> Iterator[Node]:
    """Every node of a region and of the regions inside, in order, each before what is inside it."""
    stack: list[Iterator[Node]] = [iter(region.nodes)]
    while stack:
        for node in stack[-1]:
            yield node
            if node.regions:
                stack.append(iter([inner for r in node.regions for inner in r.nodes]))
                break
        else:
            stack.pop()


def walk_regions(region: Region) -> Iterator[Region]:
    """A region and those inside, outer before inner; the caller may change the nodes of the one it has."""
    yield region
    for node in walk(region):
        yield from node.regions


def _rebuild_region(
    name: str, arguments: list[tuple[Any, ...]], nodes: list[tuple[Any, ...]], results: list[int]
) -> Region:
    """A region from the tables that pickling makes of it."""
    region = Region(name)
    values = [region.add_argument(*argument) for argument in arguments]
    for op, node_name, inputs, outputs, regions in nodes:
        operands: list[Value | None] = [None if k < 0 else values[k] for k in inputs]
        node = Node(op, operands, regions, node_name)
        node.outputs = [Value(text, type, node, k, known) for k, (text, type, known) in enumerate(outputs)]
        values += node.outputs
        region.nodes.append(node)
    region.results = [values[k] for k in results]
    return region
