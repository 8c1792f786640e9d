"""Smaller programs out of a program: fewer runs, outputs, nodes and graphs, shorter lengths, plainer feeds.

Most candidates are no valid models, or have other faults: who asks for them runs each and looks.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import onnx.inliner
from onnx import GraphProto, ModelProto, NodeProto, helper, numpy_helper

from fuzz.cell_programs import Feeds, Program
from whorl.ir.dtypes import is_float


def reductions(program: Program) -> Iterator[Program]:
    """Candidates, those first that take most away."""
    yield from fewer_runs(program)
    yield from fewer_outputs(program)
    if program.model.functions:
        yield pruned(program, onnx.inliner.inline_local_functions(program.model))
    yield from without_branches(program)
    yield from without_nodes(program)
    yield from shorter(program)
    yield from cut_feeds(program)
    yield from constants_as_feeds(program)
    yield from plainer(program)


def fewer_runs(program: Program) -> Iterator[Program]:
    if len(program.runs) == 1:
        return
    yield from (replace(program, runs=[feeds]) for feeds in program.runs)
    for n in range(len(program.runs)):
        yield replace(program, runs=program.runs[:n] + program.runs[n + 1 :])


def fewer_outputs(program: Program) -> Iterator[Program]:
    outputs = program.model.graph.output
    if len(outputs) > 1:
        for n in range(len(outputs)):
            yield with_outputs(program, [outputs[n].name])
        for n in range(len(outputs)):
            yield with_outputs(program, [v.name for k, v in enumerate(outputs) if k != n])


def with_outputs(program: Program, names: list[str]) -> Program:
    model = copy_of(program.model)
    remaining = [v for v in model.graph.output if v.name in names]
    del model.graph.output[:]
    model.graph.output.extend(remaining)
    return pruned(program, model)


def without_nodes(program: Program) -> Iterator[Program]:
    """Each node left out, what it gives replaced by what it reads."""
    for path, _ in reversed(list(all_nodes(program.model))):
        for n in range(5):
            model = copy_of(program.model)
            graph, index = graph_at(model, path)
            node = graph.node[index]
            inputs = [name for name in node.input if name]
            if n >= len(inputs):
                break
            swap = {name: inputs[n] for name in node.output if name}
            del graph.node[index]
            rename(graph, swap)
            yield pruned(program, model)


def without_branches(program: Program) -> Iterator[Program]:
    """Each If replaced by one of its branches."""
    for path, node in list(all_nodes(program.model)):
        if node.op_type != "If":
            continue
        for n in range(2):
            model = copy_of(program.model)
            graph, index = graph_at(model, path)
            node = graph.node[index]
            branch = node.attribute[n].g
            swap = dict(zip(node.output, [v.name for v in branch.output], strict=True))
            nodes = [*graph.node[:index], *branch.node, *graph.node[index + 1 :]]
            rename(graph, swap)
            del graph.node[:]
            graph.node.extend(nodes)
            yield pruned(program, model)


def shorter(program: Program) -> Iterator[Program]:
    """Every length that has a name cut, run by run."""
    dims = {v.name: [d.dim_param for d in v.type.tensor_type.shape.dim] for v in program.model.graph.input}
    names = {d for own in dims.values() for d in own if d}
    for run, feeds in enumerate(program.runs):
        for dim in sorted(names):
            for length in (0, 1, 2, 3):
                cut = {k: cut_axes(a, [d == dim for d in dims.get(k, [])], length) for k, a in feeds.items()}
                if any(cut[k].shape != a.shape for k, a in feeds.items()):
                    yield with_feeds(program, run, cut)


def cut_feeds(program: Program) -> Iterator[Program]:
    """One axis of one feed cut, where no name says what else has its length."""
    for run, feeds in enumerate(program.runs):
        for name, array in feeds.items():
            for axis in range(array.ndim):
                for length in (0, 1, 2):
                    if length < array.shape[axis]:
                        which = [k == axis for k in range(array.ndim)]
                        yield with_feeds(program, run, {**feeds, name: cut_axes(array, which, length)})


def cut_axes(array: np.ndarray, which: list[bool], length: int) -> np.ndarray:
    parts = tuple(slice(0, length) if cut else slice(None) for cut in which)
    return np.ascontiguousarray(array[parts]).reshape(array[parts].shape)


def plainer(program: Program) -> Iterator[Program]:
    """Feeds of ones and zeros, or of whole numbers."""
    for run, feeds in enumerate(program.runs):
        for name, array in feeds.items():
            for other in plain_forms(array):
                if other.tobytes() != array.tobytes():
                    yield with_feeds(program, run, {**feeds, name: other})


def plain_forms(array: np.ndarray) -> Iterator[np.ndarray]:
    if array.ndim == 0 or not array.size:
        return
    yield np.zeros_like(array)
    yield np.ones_like(array)
    if is_float(array.dtype):
        with np.errstate(all="ignore"):
            yield np.round(array.astype(np.float64)).astype(array.dtype)


def constants_as_feeds(program: Program) -> Iterator[Program]:
    for tensor in program.model.graph.initializer:
        model = copy_of(program.model)
        array = numpy_helper.to_array(tensor)
        remaining = [t for t in model.graph.initializer if t.name != tensor.name]
        del model.graph.initializer[:]
        model.graph.initializer.extend(remaining)
        model.graph.input.append(helper.make_tensor_value_info(tensor.name, tensor.data_type, array.shape))
        yield replace(program, model=model, runs=[{**feeds, tensor.name: array} for feeds in program.runs])


def with_feeds(program: Program, run: int, feeds: Feeds) -> Program:
    return replace(program, runs=[*program.runs[:run], feeds, *program.runs[run + 1 :]])


# ---- models --------------------------------------------------------------------------------------------------------


def copy_of(model: ModelProto) -> ModelProto:
    copy = ModelProto()
    copy.CopyFrom(model)
    return copy


def graphs_of(node: NodeProto) -> list[GraphProto]:
    return [a.g for a in node.attribute if a.HasField("g")]


def all_nodes(model: ModelProto) -> Iterator[tuple[tuple[int, ...], NodeProto]]:
    """Every node, with the numbers that lead to it: of a node, of a graph of it, of a node there."""

    def inside(graph: GraphProto, path: tuple[int, ...]) -> Iterator[tuple[tuple[int, ...], NodeProto]]:
        for n, node in enumerate(graph.node):
            yield (*path, n), node
            for g, inner in enumerate(graphs_of(node)):
                yield from inside(inner, (*path, n, g))

    yield from inside(model.graph, ())


def graph_at(model: ModelProto, path: tuple[int, ...]) -> tuple[GraphProto, int]:
    graph = model.graph
    for n in range(0, len(path) - 1, 2):
        graph = graphs_of(graph.node[path[n]])[path[n + 1]]
    return graph, path[-1]


def rename(graph: GraphProto, swap: dict[str, str]) -> None:
    """Read other values, in the graph and those inside."""
    for node in graph.node:
        for k, name in enumerate(node.input):
            node.input[k] = swap.get(name, name)
        for inner in graphs_of(node):
            rename(inner, swap)
    for value in graph.output:
        value.name = swap.get(value.name, value.name)


def pruned(program: Program, model: ModelProto) -> Program:
    """The program of a model, without what nothing needs."""
    prune(model.graph)
    read = names_read(model.graph)
    inputs = [v for v in model.graph.input if v.name in read]
    tensors = [t for t in model.graph.initializer if t.name in read]
    del model.graph.input[:], model.graph.initializer[:]
    model.graph.input.extend(inputs)
    model.graph.initializer.extend(tensors)
    called = {node.op_type for _, node in all_nodes(model)}
    called |= {n.op_type for f in model.functions for n in f.node}
    functions = [f for f in model.functions if f.name in called]
    del model.functions[:]
    model.functions.extend(functions)
    remaining = {v.name for v in inputs}
    runs = [{k: a for k, a in feeds.items() if k in remaining} for feeds in program.runs]
    return replace(program, model=model, runs=runs)


def prune(graph: GraphProto) -> None:
    """Drop nodes without readers, and results of bodies and branches that nobody reads."""
    while True:
        read = names_read(graph)
        remaining = [node for node in graph.node if any(name in read for name in node.output)]
        for node in remaining:
            trim(node, read)
        if len(remaining) == len(graph.node):
            break
        del graph.node[:]
        graph.node.extend(remaining)
    for node in graph.node:
        for inner in graphs_of(node):
            prune(inner)


def names_read(graph: GraphProto) -> set[str]:
    read = {v.name for v in graph.output}
    for node in graph.node:
        read.update(node.input)
        for inner in graphs_of(node):
            read |= names_read(inner)
    return read


def trim(node: NodeProto, read: set[str]) -> None:
    """Drop outputs of an If or Loop without readers; carried ones only where the body does not read them either."""
    if node.op_type not in ("If", "Loop"):
        return
    for n in reversed(range(len(node.output))):
        if node.output[n] in read or len(node.output) == 1:
            continue
        if node.op_type == "If":
            for branch in graphs_of(node):
                del branch.output[n]
        else:
            (body,) = graphs_of(node)
            if n < len(node.input) - 2:
                if body.input[n + 2].name in names_read(body) - {body.output[n + 1].name}:
                    continue
                del body.input[n + 2], node.input[n + 2]
            del body.output[n + 1]
        del node.output[n]
