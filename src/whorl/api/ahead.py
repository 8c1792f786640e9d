"""Models compiled ahead of time: libraries with a C interface, and sessions over them."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from whorl.api.deadlines import call_within
from whorl.api.models import Source, load_module
from whorl.codegen.library.header import header_text
from whorl.codegen.library.linker import link, linker
from whorl.codegen.library.ports import MOST_AXES, OPEN, Library, Port
from whorl.codegen.library.text import fill_constants, library_module
from whorl.codegen.target import Target, host, is_available, linkable_code, target_of
from whorl.errors import CompileError, TypeRuleError
from whorl.formats.writing import save_whole
from whorl.ir import dims
from whorl.ir.constants import Constant
from whorl.ir.dims import Dim
from whorl.ir.graph import Module, Node, Region
from whorl.ir.infer import names_in_type
from whorl.ir.suggestions import choose
from whorl.ir.types import AnyShape, Known, TensorType, Type, lengths_of, type_string
from whorl.ir.walk import clone_region
from whorl.lowering.expressions import Unsupported
from whorl.lowering.graph_program import GraphProgram
from whorl.lowering.graphs import lower_graph
from whorl.lowering.native_types import native_type
from whorl.ops.random.distributions import Random
from whorl.passes.open_streams import open_streams
from whorl.runtime.compiled.binding import count_names, counted
from whorl.runtime.compiled.candidates import trip_counts
from whorl.runtime.feeds import check_value
from whorl.runtime.interface import NodeArg
from whorl.runtime.library import LoadedLibrary

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class Compiled(Struct, frozen=True):
    """A compiled model: the prefix of its functions, inputs and outputs, the sizes of code and workspace in bytes.

    `needs` are the functions of the C library that the code calls.
    """

    name: str
    inputs: Sequence[Port]
    outputs: Sequence[Port]
    code_bytes: int
    workspace_bytes: int
    needs: list[str]


class CompiledSession:
    """A library of `compile`, used like an `InferenceSession`. Threads may run it at once."""

    def __init__(self, path: str | Path) -> None:
        self._library = LoadedLibrary(path)

    def run(self, output_names: Sequence[str] | None, input_feed: Mapping[str, Any]) -> list[Any]:
        """The outputs named (all where None). Feeds are arrays of the very shapes. Errors: RunError names the node."""
        return self._library.execute(output_names, input_feed)

    def get_inputs(self) -> list[NodeArg]:
        """The inputs that every run needs."""
        return _args(self._library.inputs)

    def get_outputs(self) -> list[NodeArg]:
        """The outputs."""
        return _args(self._library.outputs)


def load_compiled(path: str | Path) -> CompiledSession:
    """A session over a shared library that `compile` wrote. Errors: LoadError."""
    return CompiledSession(path)


def _args(ports: Sequence[Port]) -> list[NodeArg]:
    return [
        NodeArg(port.name, [None if n == OPEN else n for n in port.shape], type_string(port.type)) for port in ports
    ]


def compile(
    model: Source,
    output: str | Path,
    header: str | Path | None = None,
    dims: Mapping[str, int] | None = None,
    inputs: Mapping[str, Any] | None = None,
    name: str | None = None,
    target: str | None = None,
    cpu: str | None = None,
    timeout: float | None = None,
) -> Compiled:
    """Write a model as a shared library, or as an object file where `output` ends in .o, with a C interface.

    `dims` fixes lengths of named dims, which each run gives otherwise; `inputs` makes inputs constants of the program,
    as inputs with a default are anyway. `name` begins the functions' names (else the file's). `target` is another
    machine's triple, for which only object files are written; `cpu` LLVM's name of a CPU. `timeout`: seconds allowed.
    Errors: LoadError, CompileError, SaveError, TimeLimitError.
    """
    if not is_available():
        raise CompileError("llvmlite is not installed", fix="pip install llvmlite")
    path = Path(output)
    machine = host() if target is None and cpu is None else target_of(target or host().triple, cpu)
    is_object = path.suffix == ".o"
    if target is not None and not is_object:
        raise CompileError("only object files are written for other machines", str(path), "end the name in .o")
    if not is_object:
        linker()
    prefix = name or _name_of(path)
    library, depth, code, needs = call_within(
        timeout, "compiling", _assemble, model, prefix, dims or {}, inputs or {}, machine
    )
    files = {path: code if is_object else linked([code], path.name)}
    if header is not None:
        files[Path(header)] = header_text(library, depth).encode()
    save_whole(files)
    return Compiled(library.name, library.inputs, library.outputs, len(code), library.workspace_bytes, needs)


def _assemble(
    model: Source, name: str, dims: Mapping[str, int], inputs: Mapping[str, Any], machine: Target
) -> tuple[Library, int, bytes | bytearray, list[str]]:
    """The library of a model, how deep its loops are nested, its object code and what that needs."""
    library = library_of(_with_streams(load_module(model)), name, dims, inputs)
    llvm, depth = library_module(library, machine, "-windows" in machine.triple)
    code, needs = linkable_code(str(llvm), machine)
    return library, depth, fill_constants(code, library), needs


def _with_streams(module: Module) -> Module:
    """The module with random ops that draw from streams, each from its seed on in every run."""
    drawing = [node for node in module.nodes() if isinstance(node.op, Random)]
    if not drawing or any(node.op.seed is None for node in drawing if isinstance(node.op, Random)):
        return module
    return replace(module, main=open_streams(module))


def _name_of(path: Path) -> str:
    name = re.sub(r"\W", "_", path.name.split(".")[0].removeprefix("lib"), flags=re.ASCII) or "model"
    return name if _NAME.fullmatch(name) else f"_{name}"


def linked(codes: Sequence[bytes | bytearray], name: str) -> bytes:
    """The shared library of some object code, by the name that programs look for."""
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder) / f"{number}.o" for number in range(len(codes))]
        for file, code in zip(files, codes, strict=True):
            file.write_bytes(code)
        made = Path(folder) / name
        link(files, made)
        return made.read_bytes()


# ---- the program ---------------------------------------------------------------------------------------------


def library_of(
    module: Module, name: str, lengths: Mapping[str, int], inputs: Mapping[str, Any], takes_lengths: bool = False
) -> Library:
    """The library of a module; every run passes the lengths that are not fixed.

    `takes_lengths`: outputs whose lengths follow from these have memory before a run, and the program asks of them what
    `lowering.graph_program` says; inputs that say how often loops collect have names as such lengths have.
    """
    if not _NAME.fullmatch(name):
        raise CompileError(f"{name!r} cannot begin the names of C functions", fix="use letters, digits and _")
    main = _with_constants(module, inputs)
    numbers = trip_counts(main.nodes, main.arguments) if takes_lengths else []
    names = count_names([value.type for value in main.arguments], numbers)
    counts = {number: lengths.get(str(name), name) for number, name in names.items()}
    lengths = {name: length for name, length in lengths.items() if name not in map(str, names.values())}
    types = [_fixed(value.type, lengths) for value in main.arguments]
    open_names = _open_lengths(main, types, lengths)
    fix = f"fix lengths: {' '.join(f'--dim {name}=N' for name in open_names)}" if open_names else ""
    try:
        facts = [counted(type, counts[n]) if n in counts else Known(type) for n, type in enumerate(types)]
        graph = lower_graph(main, facts, takes_lengths=takes_lengths)
    except (Unsupported, TypeRuleError) as reason:
        raise CompileError(f"the model cannot be compiled ahead of time: {reason}", fix=fix) from None
    for number, _ in graph.sequences[:1]:
        raise CompileError(f"output {module.output_names[number]!r} is a sequence", fix="join it to a tensor")
    _require_native(graph, fix)
    ports = [_port(value.name, type, graph) for value, type in zip(main.arguments, types, strict=True)]
    for number, count in counts.items():
        ports[number] = replace(ports[number], count=count if isinstance(count, int) else str(count))
    outputs = [_port(name, type, graph) for name, type in zip(module.output_names, graph.outputs, strict=True)]
    return Library(name, ports, outputs, graph)


def _port(name: str, type: Type, graph: GraphProgram) -> Port:
    type = native_type(type, f"{name!r}")
    shape = tuple(n if isinstance(n, int) else OPEN for n in lengths_of(type))
    if OPEN in shape and len(shape) > MOST_AXES:
        raise CompileError(f"{name!r} has {len(shape)} axes, and lengths that only a run knows")
    if OPEN not in shape:
        return Port(name, type.dtype, shape)
    lengths = set(graph.names)
    names = (str(n) if not isinstance(n, int) and dims.names_in(n) <= lengths else "" for n in lengths_of(type))
    return Port(name, type.dtype, shape, tuple(names))


def _with_constants(module: Module, inputs: Mapping[str, Any]) -> Region:
    """The main region with inputs that have a value made constants; states stay inputs and outputs."""
    names = {value.name for value in module.main.arguments}
    states = {state.input for state in module.states}
    defaults = {name: value for name, value in module.defaults.items() if name not in states}
    for name in inputs:
        if name not in names:
            raise CompileError(f"the model has no input {name!r}", fix=choose(name, names))
    main = clone_region(module.main)
    fixed = [v for v in main.arguments if v.name in inputs or v.name in defaults]
    nodes: list[Node] = []
    for argument in fixed:
        value = defaults.get(argument.name)
        if argument.name in inputs:
            value = check_value(inputs[argument.name], argument.type, f"input {argument.name!r}")
        node = Node(Constant(value), [], (), argument.name)
        node.outputs = [argument]
        argument.owner, argument.index = node, 0
        nodes.append(node)
    main.set_arguments([v for v in main.arguments if v not in fixed])
    main.nodes = [*nodes, *main.nodes]
    return main


def _fixed(type: Type, lengths: Mapping[str, int]) -> Type:
    if not isinstance(type, TensorType) or isinstance(type.shape, AnyShape):
        return type
    binding: dict[str, Dim] = dict(lengths)
    return TensorType(type.dtype, tuple(dims.substitute(d, binding) for d in type.shape))


def _open_lengths(main: Region, types: list[Type], lengths: Mapping[str, int]) -> list[str]:
    """The names of lengths that each run passes. Refuses unknown ranks, and dims that no input has."""
    known = {name for value in main.arguments for name in names_in_type(value.type)}
    for name in sorted(lengths.keys() - known):
        raise CompileError(f"no input has a dim {name!r}", fix=choose(name, sorted(known)))
    owners: dict[str, str] = {}
    for value, type in zip(main.arguments, types, strict=True):
        if isinstance(type, TensorType) and isinstance(type.shape, AnyShape):
            raise CompileError(f"the rank of input {value.name!r} is not known", fix="declare its shape in the model")
        for name in sorted(names_in_type(type)):
            owners.setdefault(name, f"input {value.name!r}, {value.type}")
    plain = {str(d) for type in types if isinstance(type, TensorType) for d in lengths_of(type)}
    for name, owner in owners.items():
        if name not in plain:
            raise CompileError(f"the length {name!r} is no length of {owner}", fix=f"fix it: --dim {name}=N")
    return list(owners)


def _require_native(graph: GraphProgram, fix: str) -> None:
    """Refuse a program that needs NumPy for some of its nodes."""
    if graph.program.calls:
        nodes = ", ".join(dict.fromkeys(call.node or call.op.name for call in graph.program.calls))
        raise CompileError(
            f"the model cannot be compiled ahead of time: {nodes} would run in Python, having no native form for "
            "these types and shapes",
            fix=fix,
        )
