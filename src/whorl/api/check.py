"""What is odd about a model's control flow: places where engines disagree, or where a user meant something else."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Unpack

from msgspec.structs import replace

from whorl.api.contradictions import find_contradictions
from whorl.api.models import HasModule, Source, load, options_of
from whorl.api.problem import Problem
from whorl.errors import format_location
from whorl.formats.onnx.files import read_proto
from whorl.formats.onnx.shadowing import shadowed_names
from whorl.formats.openvino.codes import FIXES
from whorl.formats.options import LoadKeywords, LoadOptions
from whorl.formats.registry import ONNX, format_of
from whorl.formats.sources import HasGraphs
from whorl.ir.dims import UNKNOWN, Linear
from whorl.ir.graph import Module, Node, Region, Value
from whorl.ir.infer import Inference, region_title
from whorl.ir.types import AnyShape, TensorType, contradict, same_kind
from whorl.ir.walk import clone_region
from whorl.ops.control.flow import If, Loop, known_bool
from whorl.ops.elementwise.arithmetic import Identity

FOREVER = 1 << 62
"""Trip counts from here on are meant as 'no bound'."""


def check(source: Source, options: LoadOptions | None = None, **keywords: Unpack[LoadKeywords]) -> list[Problem]:
    """Problems of a model that is read as by `load`, outermost regions first. Errors: LoadError."""
    model = load(source, replace(options_of(options, keywords), needs_weights=False))
    if not isinstance(model, Module):
        return [Problem(*entry) for entry in model.problems()]
    return [
        *_shadowed(source),
        *_reader_warnings(model),
        *_declared(model),
        *_region(model.main, (), model),
        *_ill_shaped(model),
    ]


def _shadowed(source: Source) -> Iterator[Problem]:
    """One problem for each inner graph that redefines a name of an outer one, which only files of ONNX can have."""
    if isinstance(source, Module | HasModule | HasGraphs) or format_of(source) is not ONNX:
        return
    hidden: dict[str, list[str]] = {}
    for name, where in shadowed_names(read_proto(source).graph):
        hidden.setdefault(where, []).append(repr(name))
    for where, names in hidden.items():
        what = "hides a value" if len(names) == 1 else "hide values"
        message = f"{', '.join(names)} {what} of the same name outside; engines disagree on which is meant"
        yield Problem("shadowed-name", "warning", where, message, "rename what is inside")


def _reader_warnings(module: Module) -> Iterator[Problem]:
    """Warnings of the reader of IR, by its own codes."""
    for code, message, where in module.metadata.get("openvino", {}).get("warnings", ()):
        yield Problem(code, "warning", where, message, FIXES.get(code, "correct the file"))


def _declared(module: Module) -> Iterator[Problem]:
    """Types that graphs of an ONNX file declare and that cannot be."""
    for where, message in module.metadata.get("contradictions", ()):
        yield Problem("declared-shape", "error", where, message, "correct the declaration")
    for name, value in zip(module.output_names, module.main.results, strict=True):
        declared = module.declared.get(name, value.type)
        if same_kind(declared, value.type) and contradict(declared, value.type):
            message = f"output {name!r} is declared {declared} but is computed as {value.type}"
            yield Problem("declared-output", "warning", "the graph", message, "correct the declaration")


def _ill_shaped(module: Module) -> Iterator[Problem]:
    """Nodes in bodies and branches that cannot run with the shapes they would get."""
    inference = Inference()
    inference.region(clone_region(module.main))
    for text in dict.fromkeys(inference.problems):
        where, _, message = text.partition(": ")
        message, _, fix = message.partition("\n  fix: ")
        yield Problem("ill-shaped", "warning", where, f"{message}, so it must never be reached", fix or "correct it")


def _region(region: Region, around: tuple[str, ...], module: Module) -> Iterator[Problem]:
    for node in region.nodes:
        where = format_location(node.title, *around)
        yield from find_contradictions(node, module, where)
        if isinstance(node.op, Loop):
            yield from _loop(node, node.op, where)
        elif isinstance(node.op, If):
            yield from _branches(node, where)
        for index, inner in enumerate(node.regions):
            yield from _region(inner, (region_title(node, index), *around), module)


def _one_element(value: Value | None, what: str, where: str) -> Iterator[Problem]:
    if value is not None and isinstance(value.type, TensorType) and value.type.rank:
        message = f"{what} {value.name!r} is {value.type}, not a scalar; engines differ on which ranks they take"
        yield Problem("not-a-scalar", "warning", where, message, "squeeze it to rank 0")


def _loop(node: Node, op: Loop, where: str) -> Iterator[Problem]:
    trip, condition, *_ = op.split(node.inputs)
    body = node.regions[0]
    yield from _one_element(trip, "the trip count", where)
    yield from _one_element(condition, "the condition", where)
    answer = body.results[0]
    is_true = known_bool(answer) is True or _origin(answer) is body.arguments[1]
    if condition is None and not op.scanned and not is_true:
        message = "it has no condition input, so what its body answers is ignored; onnxruntime and OpenVINO stop there"
        fix = "give it a condition input, or answer a constant true"
        yield Problem("condition-ignored", "warning", where, message, fix)
    count = trip.known.flat[0] if trip is not None and trip.known is not None and trip.known.size == 1 else None
    unbounded = isinstance(count, int) and count >= FOREVER
    if unbounded:
        message = f"its trip count is {count}: engines that allocate for it in advance fail"
        yield Problem("forever", "note", where, message, "leave the trip count out")
    endless = (trip is None or unbounded) and not op.scanned and (condition is None or is_true)
    if endless and not (condition is not None and known_bool(condition) is False):
        message = "nothing ends it: no bound, and no condition that can become false"
        yield Problem("endless", "error", where, message, "give it a trip count or a condition")
    yield from _carried(node, op, where)
    yield from _collected(node, op, where)


def _carried(node: Node, op: Loop, where: str) -> Iterator[Problem]:
    """Carried values that nothing reads, and those that never change."""
    body = node.regions[0]
    states, results = body.arguments[2 : 2 + op.carried], body.results[1 : 1 + op.carried]
    for k, (state, result) in enumerate(zip(states, results, strict=True)):
        if _origin(result) is state:
            message = f"carried value {k} ({state.name!r}) never changes"
            yield Problem("never-changes", "note", where, message, "use the outer value in the body instead")
        elif state not in body.results and not any(state in inner.inputs for inner in body.nodes):
            message = f"carried value {k} ({state.name!r}) is never read in the body"
            fix = "collect it or compute it after the loop, if only its last value is wanted"
            yield Problem("unused-carried", "note", where, message, fix)


def _origin(value: Value) -> Value:
    """The value that Identity nodes of the same region hand on; exporters write one before every output of a body."""
    while isinstance(value.owner, Node) and isinstance(value.owner.op, Identity):
        (source,) = value.owner.inputs
        assert source is not None
        value = source
    return value


def _collected(node: Node, op: Loop, where: str) -> Iterator[Problem]:
    for value, how in zip(node.outputs[op.carried + op.last :], op.collected, strict=False):
        if not isinstance(value.type, TensorType):
            continue
        if isinstance(value.type.shape, AnyShape):
            open_axes = "rank"
        else:
            axis = how.axis % len(value.type.shape)
            own = [k for k, d in enumerate(value.type.shape) if k != axis and _is_own(value, k, d)]
            open_axes = f"axes {own}" if own else ""
        if open_axes:
            message = f"the {open_axes} of {value.name!r} cannot be proved, so no iteration gives length 0 there"
            yield Problem("unproved-shape", "note", where, message, "declare the shape of the body's output")


def _is_own(value: Value, axis: int, dim: object) -> bool:
    """Whether a dim is known by no name but the one that inference made up for it."""
    return dim is UNKNOWN or (isinstance(dim, Linear) and str(dim).partition("'")[0] == f"{value.name}.{axis}")


def _branches(node: Node, where: str) -> Iterator[Problem]:
    yield from _one_element(node.inputs[0], "the condition", where)
    for k, (a, b) in enumerate(zip(node.regions[0].results, node.regions[1].results, strict=True)):
        if not isinstance(a.type, TensorType) or not isinstance(b.type, TensorType):
            continue
        if a.type.rank is not None and b.type.rank is not None and a.type.rank != b.type.rank:
            message = f"output {k} is {a.type} in one branch and {b.type} in the other"
            yield Problem("branch-ranks", "warning", where, message, "reshape both to one rank")
