"""What `run` and `show` do with an MDF model: simulate it over time, or list its nodes."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from whorl.api.models import load
from whorl.cli import archive
from whorl.cli.arguments import UsageError, count, limits_of, load_options, refuse_options
from whorl.cli.documents import plain, print_document
from whorl.cli.inputs import parse_value
from whorl.formats.mdf.model import MdfModel
from whorl.ir.dtypes import FLOAT64
from whorl.ir.types import TensorType, type_of
from whorl.mdf.model import Node, Parameter

SHOWN = 4
"""Rows that are printed from the start and from the end of a record."""
LONGEST = 60


def add_steps(parser: argparse.ArgumentParser) -> None:
    """The options of a simulation."""
    group = parser.add_argument_group("MDF models", "run over time; --input gives initial values and parameters")
    group.add_argument("--steps", type=count, metavar="N", help="evaluations after the first one (default 0)")
    group.add_argument("--dt", type=float, metavar="SECONDS", help="the time step of each of them")
    group.add_argument(
        "--record", action="append", default=[], metavar="NODE.NAME", help="what to record (default: output ports)"
    )
    group.add_argument("--initial", action="append", default=[], metavar="NODE.NAME=VALUE", help="the same as --input")
    group.add_argument("--seed", type=count, metavar="N", help="the seed of random numbers (default 0)")
    group.add_argument("--plot", metavar="FILE", help="draw what is recorded, as .png, .svg or .pdf")


OWN_OPTIONS = "--steps", "--dt", "--record", "--initial", "--seed", "--plot"
OTHERS_OPTIONS = "--random", "--dim", "--test-data", "--rtol", "--atol", "--profile", "--phases", "--compat"


def _load(arguments: argparse.Namespace) -> MdfModel:
    model = load(arguments.model, load_options(arguments))
    assert isinstance(model, MdfModel)
    return model


def simulate(arguments: argparse.Namespace) -> int:
    """`whorl run` on an MDF model."""
    refuse_options(arguments, OTHERS_OPTIONS, "does not apply to an MDF model, which is simulated over time")
    if arguments.output and not arguments.output.endswith(".npz"):
        raise UsageError(f"--output {arguments.output!r} does not end in .npz")
    file = _load(arguments)
    limits, backend = limits_of(arguments), arguments.backend
    model = MdfModel(
        file.document, precision=file.precision, integrator=file.integrator, limits=limits, backend=backend
    )
    record = [name for entry in arguments.record for name in entry.split(",")]
    initial = _initial([*arguments.input, *arguments.initial])
    steps, seed = arguments.steps or 0, arguments.seed or 0
    result = model.simulate(steps, arguments.dt, record=record or None, initial=initial, seed=seed)
    if arguments.plot:
        result.plot(arguments.plot, title=model.graph.id)
    if arguments.output:
        archive.write(Path(arguments.output), {"time": result.times, **result})
    if arguments.json:
        print_document(
            {"times": plain(result.times), "records": {name: plain(value) for name, value in result.items()}}
        )
    else:
        print("\n".join(f"{name}: {shown(value)}" for name, value in result.items()))
    return 0


def _initial(entries: list[str]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for entry in entries:
        name, equals, text = entry.partition("=")
        if not equals:
            raise UsageError(f"--input {entry!r} has no '='", fix="write NODE.NAME=VALUE")
        values[name] = parse_value(name, text, TensorType(FLOAT64))
    return values


def shown(rows: np.ndarray) -> str:
    """A record in one line: its type, the first and the last rows."""
    texts = [_row(row) for row in (rows if len(rows) <= 2 * SHOWN else [*rows[:SHOWN], *rows[-SHOWN:]])]
    if len(rows) > 2 * SHOWN:
        texts.insert(SHOWN, "...")
    return f"{type_of(rows)} {' '.join(texts)}"


def _row(row: np.ndarray) -> str:
    if np.size(row) == 1:
        return str(np.asarray(row).reshape(()).item())
    return np.array2string(np.asarray(row), threshold=4, edgeitems=2, precision=6).replace("\n", "")


def show(arguments: argparse.Namespace) -> int:
    """`whorl show` on an MDF model: its nodes and how it runs."""
    model = _load(arguments)
    graph = model.graph
    if arguments.json:
        nodes = {id: [*_lines(node)] for id, node in graph.nodes.items()}
        edges = [f"{e.sender}.{e.sender_port} -> {e.receiver}.{e.receiver_port}" for e in graph.edges.values()]
        print_document({"model": model.document.id, "nodes": nodes, "edges": edges, "runs": model.explain()})
        return 0
    lines = [f"MDF model {model.document.id!r}, graph {graph.id!r}"]
    for id, node in graph.nodes.items():
        lines += ["", f"node {id!r}", *(f"  {line}" for line in _lines(node))]
    if graph.edges:
        lines.append("")
    for edge in graph.edges.values():
        weight = edge.parameters.get("weight")
        scaled = "" if weight is None else f" times {_short(weight)}"
        lines.append(f"edge    {edge.sender}.{edge.sender_port} -> {edge.receiver}.{edge.receiver_port}{scaled}")
    print("\n".join([*lines, "", f"runs {model.explain()}"]))
    return 0


def _lines(node: Node) -> Iterator[str]:
    for port in node.input_ports.values():
        rest = "" if port.default_value is None else f" (rests at {_short(port.default_value)})"
        yield f"input     {port.id}{rest}{'' if port.reduce == 'overwrite' else f', joined by {port.reduce}'}"
    for function in node.functions.values():
        yield f"function  {function.id} = {_call(function.function, function.args, function.value)}"
    for parameter in node.parameters.values():
        yield f"{'state' if parameter.default_initial_value is not None else 'parameter':<9} {_meaning(parameter)}"
        for condition in parameter.conditions:
            yield f"            where {_short(condition.test)}: {_short(condition.value)}"
    for port in node.output_ports.values():
        yield f"output    {port.id} = {_short(port.value)}"


def _meaning(parameter: Parameter) -> str:
    start = "" if parameter.default_initial_value is None else f", at first {_short(parameter.default_initial_value)}"
    if parameter.time_derivative is not None:
        return f"d{parameter.id}/dt = {_short(parameter.time_derivative)}{start}"
    if parameter.value is None and parameter.function is None:
        return f"{parameter.id}{start}"
    return f"{parameter.id} = {_call(parameter.function, parameter.args, parameter.value)}{start}"


def _call(function: str | None, args: dict[str, Any], value: Any) -> str:
    if function is None:
        return _short(value)
    return f"{function}({', '.join(f'{name}={_short(argument)}' for name, argument in args.items())})"


def _short(value: Any) -> str:
    text = str(value)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 3]}..."
