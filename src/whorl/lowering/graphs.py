"""A whole region as one kernel program: inputs, constants and outputs as buffers, scratch memory in one block."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from whorl.ir import dims
from whorl.ir.dims import Dim
from whorl.ir.dtypes import INT64
from whorl.ir.graph import Node, Region, Value
from whorl.ir.infer import Inference, names_of
from whorl.ir.native.expressions import Buffer, Var
from whorl.ir.native.view import View
from whorl.ir.types import Fact, SequenceType, TensorType, lengths_of, tensor
from whorl.ir.walk import clone_region
from whorl.kernel.optimise import optimise
from whorl.kernel.program import Program
from whorl.lowering.arena_planning import plan_arena, swapped_pairs, used_buffers
from whorl.lowering.branches import simplify_branches
from whorl.lowering.builder import KernelBuilder
from whorl.lowering.continuations import Continuations
from whorl.lowering.expressions import TooLong, Unsupported, contained
from whorl.lowering.folding import Folded, fold_nodes
from whorl.lowering.graph_program import GraphProgram, Grown
from whorl.lowering.ill_typed import set_aside
from whorl.lowering.layout import prepare
from whorl.lowering.maps import open_maps
from whorl.lowering.native_types import native_type
from whorl.lowering.regions import lower_region
from whorl.lowering.rerolling import reroll
from whorl.lowering.sequences import open_results, read_parts, type_empty_sequences
from whorl.lowering.storage import Target, element_type, fill_all, memory_shape, memory_type
from whorl.lowering.strings import number_strings
from whorl.lowering.tables import open_ragged
from whorl.passes.dce import drop_captures, remove_unused_nodes
from whorl.phases import Phase, in_phase


@in_phase(Phase.LOWER)
def lower_graph(
    region: Region,
    arguments: Sequence[Fact],
    folded: Folded | None = None,
    most_statements: int | None = None,
    takes_lengths: bool = False,
    lengths: Mapping[str, int] | None = None,
    takes_objects: bool = False,
    most_iterations: int | None = None,
    joins_blocks: bool = False,
) -> GraphProgram:
    """The kernel program of a region for arguments of these types; their known elements hold in every run.

    `takes_lengths`: who runs it computes `forms`, and gives memory for what has lengths over the arguments' names;
    else that grows while it runs. `takes_objects`: there are numbers in the place of strings, and tables in that of
    lists of maps. `lengths` are those of names in one run: branches are left out that no run takes for which they
    decide the same. A program fails where a loop wants more than `most_iterations`. `joins_blocks`: equal blocks become
    a loop over their weights, whose failures do not say which block it was. Nodes on constants run here, once for all
    programs that share `folded`. A sequence has the type of its rows. Raises Unsupported with the reason, and
    the region's own node, where something has no native form, TooLong where there are more than `most_statements`;
    TypeRuleError where inference refuses the region.
    """
    options = _Options(most_statements, takes_lengths, lengths, takes_objects, most_iterations, joins_blocks)
    try:
        return _lower_copy(region, arguments, folded or Folded(), options, True)
    except HasTables:
        return _lower_copy(region, arguments, folded or Folded(), options, False)


class _Options(Struct, frozen=True):
    """What `lower_graph` is asked for, besides a region for arguments."""

    most_statements: int | None
    takes_lengths: bool
    lengths: Mapping[str, int] | None
    takes_objects: bool
    most_iterations: int | None
    joins_blocks: bool


class HasTables(Exception):
    """A region in which sequences became tables has no native form; its nodes as they were may have more of one."""


def _lower_copy(
    region: Region, arguments: Sequence[Fact], folded: Folded, options: _Options, opens_sequences: bool
) -> GraphProgram:
    special = clone_region(region)
    origins = {v: node for copy, node in zip(special.nodes, region.nodes, strict=True) for v in copy.outputs}
    with contained():
        decisions, has_tables = _specialise(special, arguments, options.lengths, origins, opens_sequences)
    pairs = zip(special.arguments, arguments, strict=True)
    counts = {v: lengths_of(tensor(fact))[0] for v, fact in pairs if isinstance(v.type, SequenceType)}
    try:
        with contained():
            maps = open_maps(special) if options.takes_objects else ()
            sequences = open_results(special)
            strings = number_strings(special) if options.takes_objects else None
            prepare(special, ())
            _drop_captures(special)
            remove_unused_nodes(special)
            fold_nodes(special, folded)
            remove_unused_nodes(special)
            if options.joins_blocks and reroll(special, folded.stack):
                try:
                    graph = _lower(special, counts, options)
                except Unsupported:
                    return _lower_copy(region, arguments, folded, replace(options, joins_blocks=False), opens_sequences)
            else:
                graph = _lower(special, counts, options)
            own = None if strings is None else strings.of(graph.inputs)
            return replace(graph, sequences=sequences, decisions=tuple(decisions.items()), strings=own, maps=maps)
    except Unsupported as reason:
        if has_tables:
            raise HasTables from reason
        result = [origins[v] for v in reason.node.outputs if v in origins] if isinstance(reason.node, Node) else []
        raise reason.at(result[0] if result else None) from None


def _specialise(
    region: Region,
    arguments: Sequence[Fact],
    lengths: Mapping[str, int] | None,
    origins: dict[Value, Node],
    opens_sequences: bool,
) -> tuple[dict[Dim, bool], bool]:
    """Type a region for these arguments; returns the conditions that the lengths of a run have decided for it.

    `opens_sequences`: those of tensors that differ in shape become tables; whether there are any is returned, too.
    """
    for value, fact in zip(region.arguments, arguments, strict=True):
        is_sequence = isinstance(value.type, SequenceType)
        value.type, value.known = element_type(fact.type) if is_sequence else fact.type, fact.known
    decisions: dict[Dim, bool] = {}
    continuations, has_tables = Continuations(origins), False
    while True:
        inference = Inference(lengths=lengths)
        inference.region(region)
        decisions.update(inference.decisions.values())
        changed = simplify_branches(region, inference, continuations, takes_known=lengths is not None)
        if changed or type_empty_sequences(region) or read_parts(region):
            continue
        if opens_sequences and open_ragged(region):
            has_tables = True
            continue
        set_aside(inference.ill_typed)
        return decisions, has_tables


def _drop_captures(region: Region) -> None:
    """Let nodes capture no more than what is read inside, so that what only makes panels of a matrix shows as that."""
    for node in region.nodes:
        for inner in node.regions:
            _drop_captures(inner)
        if node.regions:
            drop_captures(node)


def _lower(region: Region, counts: dict[Value, Dim], options: _Options) -> GraphProgram:
    k = KernelBuilder(options.most_iterations)
    k.counts.update(counts)
    used = region.used_values()
    inputs = {n: v for n, v in enumerate(region.arguments) if v in used}
    names = _named_lengths(region, k)
    if options.takes_lengths:
        k.take_names(names)
    buffers = {n: _argument(v, k) for n, v in inputs.items()}
    env = {v: _view(buffers[n], v, k) for n, v in inputs.items()}
    results = lower_region(region, env, k)
    outs = _Outputs(k, {b for pair in swapped_pairs(k.block) for b in pair})
    for value, view in zip(region.results, results, strict=True):
        try:
            outs.add(value, view)
        except Unsupported as reason:
            raise reason.at(value.owner) from None
    fill_all(k, outs.targets)
    if options.most_statements is not None and len(k.block) > options.most_statements:
        raise TooLong(len(k.block))
    used = used_buffers(k.block)
    scratch = [b for b in k.scratch if b in used and b not in outs.fixed]
    operands = [(b, array) for b, array in k.constants.items() if b in used]
    buffers_in_order = [*buffers.values(), *(b for b, _ in operands), *outs.fixed]
    known = [*names.values(), *k.forms.values()]
    program = Program([*known, *outs.lengths], buffers_in_order, scratch, k.block, k.calls, outs.fixed)
    optimise(program)
    arrays = tuple(array for _, array in operands)
    buffers_used = {*program.buffers, *program.scratch}
    grown = {n: Grown(scratch.index(buffer), _behind(len(known), axes)) for n, (buffer, axes) in outs.grown.items()}
    return GraphProgram(
        program,
        tuple(buffers),
        arrays,
        tuple(outs.types),
        plan_arena(program, k.shapes),
        k.may_fail,
        grown,
        tuple(names),
        tuple(k.forms),
        {b: s for b, s in k.shapes.items() if b in buffers_used and any(not isinstance(n, int) for n in s)},
        tuple(k.agreeing),
        tuple(k.positive),
    )


def _behind(count: int, numbers: dict[int, int]) -> dict[int, int]:
    return {axis: count + number for axis, number in numbers.items()}


def _argument(value: Value, k: KernelBuilder) -> Buffer:
    type = memory_type(value, k, "input ")
    shape = k.shape_in_run(lengths_of(type))
    if shape is not None:
        buffer = k.memory(f"{value.name}.in", type.dtype, shape)
    else:
        buffer = Buffer(f"{value.name}.in", type.dtype, memory_shape(k, lengths_of(type), {}), True)
    k.fixed.add(buffer)
    k.from_caller.add(buffer)
    return buffer


def _view(buffer: Buffer, value: Value, k: KernelBuilder) -> View:
    view = k.view_of(buffer, lengths_of(memory_type(value, k)))
    return View(view.dtype, view.shape, view.at, 1, buffer, value.known)


def _named_lengths(region: Region, k: KernelBuilder) -> dict[str, Var]:
    """A variable for each length of an input that has a name, in the order of the inputs."""
    lengths = ({*names_of((v,)), *dims.names_in(k.counts.get(v, 0))} for v in region.arguments)
    names = [name for each in lengths for name in sorted(each)]
    result = {name: k.variable(INT64, "n", once=False) for name in dict.fromkeys(names)}
    k.dims.update(result)
    return result


class _Outputs(Struct):
    """A buffer for each output: scratch memory where it lies already, else one that is still to be filled.

    Memory among `trading`, which trades places, is none of them.
    """

    k: KernelBuilder
    trading: set[Buffer]
    types: list[TensorType] = field(default_factory=list[TensorType])
    fixed: list[Buffer] = field(default_factory=list[Buffer])
    grown: dict[int, tuple[Buffer, dict[int, int]]] = field(default_factory=dict[int, tuple[Buffer, dict[int, int]]])
    lengths: list[Var] = field(default_factory=list[Var])
    targets: list[Target] = field(default_factory=list[Target])

    def add(self, value: Value, view: View) -> None:
        """Place the next output."""
        k, lies = self.k, _whole(view, self.k)
        type = native_type(TensorType(view.dtype, view.shape), f"output {value.name!r}")
        reserved = {*self.fixed, *(buffer for buffer, _ in self.grown.values()), *self.trading}
        shape = k.shape_in_run(view.shape)
        if lies not in k.scratch or lies in reserved:
            lies = None
        if shape is not None:
            type = type.with_shape(shape)
            lies = None if lies is not None and lies.grows else lies
            out = lies or k.memory(f"out{len(self.types)}", type.dtype, shape)
            self.fixed.append(out)
        else:
            out = lies or Buffer(f"out{len(self.types)}", type.dtype, memory_shape(k, view.shape, {}), True)
            self.grown[len(self.types)] = out, self._lengths(view.shape)
            if lies is None:
                k.add_scratch(out)
                k.reserve(out, view.shape)
        if lies is None:
            self.targets.append((view, out, ()))
        self.types.append(type)

    def _lengths(self, shape: Sequence[Any]) -> dict[int, int]:
        """Scalars of the program for the lengths that are no numbers, by axis."""
        result: dict[int, int] = {}
        for axis, length in enumerate(shape):
            if not isinstance(length, int):
                var = self.k.variable(INT64, "length", once=False)
                self.k.assign(var, self.k.length(length))
                result[axis] = len(self.lengths)
                self.lengths.append(var)
        return result


def _whole(view: View, k: KernelBuilder) -> Buffer | None:
    """The buffer that holds a tensor and nothing else, row-major."""
    if view.buffer is not None and (view.buffer.grows or k.fills(view)):
        return k.memory_of(view.buffer)
    result = k.contiguous(view)
    if result is None or result[0].grows:
        return None
    buffer, origin = k.memory_of(result[0]), result[1]
    if not all(k.number(position) == 0 for position in origin) or (size := k.in_run(view.size)) is None:
        return None
    lengths = k.shapes.get(buffer) or [n for n in buffer.shape if isinstance(n, int)]
    return buffer if dims.product(lengths) == size else None
