"""Show a model: inputs, outputs, ops, and its loops and branches as a tree with trip counts and types."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any

from msgspec import to_builtins

from whorl.api.describe import describe
from whorl.api.preparing import prepare
from whorl.cli import simulations
from whorl.cli.arguments import add_inputs, add_model, module_of, refuse_options
from whorl.cli.documents import print_document
from whorl.cli.inputs import inputs_of, suggest_lengths
from whorl.errors import RunError
from whorl.formats.registry import format_of
from whorl.ir.graph import Module
from whorl.ir.text import print_module
from whorl.ir.types import type_of
from whorl.runtime.compiled.explain import Verdict
from whorl.runtime.limits import Limits
from whorl.runtime.session import Session

ELIDE = 16
"""Elements above which `--text` cuts a constant short."""
PATIENCE = 60.0
"""Seconds that the run of `--native` may take."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_model(parser)
    parser.add_argument("--text", action="store_true", help="print the whole program in whorl's text form")
    parser.add_argument(
        "--native",
        action="store_true",
        help="run the model once, on random values where none are given, and show which nodes ran natively, which of "
        "them call back to NumPy, and why the others were interpreted; `whorl profile` says what each took",
    )
    add_inputs(parser)


def execute(arguments: argparse.Namespace) -> int:
    if arguments.native:
        refuse_options(arguments, ("--text",), "prints the program, --native how it runs", "choose one of them")
    else:
        refuse_options(
            arguments, ("--input", "--random", "--dim"), "is for the run that --native makes", "add --native"
        )
    if format_of(arguments.model).simulates and not arguments.text and not arguments.native:
        return simulations.show(arguments)
    module = module_of(arguments, needs_weights=arguments.native)
    if arguments.native:
        return _show_native(module, arguments)
    text = print_module(module, elide=ELIDE) if arguments.text else ""
    if arguments.json:
        print_document(describe(module) | ({"text": text} if arguments.text else {}))
    else:
        print(text.rstrip("\n") or render(describe(module)))
    return 0


def _show_native(module: Module, arguments: argparse.Namespace) -> int:
    inputs = inputs_of(arguments, module)
    session = Session(prepare(module), Limits(timeout=PATIENCE), "native")
    ended = ""
    try:
        with suggest_lengths(arguments, module, inputs):
            session.execute(None, inputs)
    except RunError as error:
        ended = str(error)
    verdicts = session.explain()
    if arguments.json:
        types = {name: str(type_of(value)) for name, value in inputs.items()}
        print_document({"inputs": types, "ended": ended, "nodes": to_builtins(verdicts)})
        return 0
    lines = [f"input   {name}: {type_of(value)}" for name, value in inputs.items()]
    lines += ["", *(line for verdict in verdicts for line in _verdict(verdict, ""))]
    print("\n".join([*lines, *(["", f"the run ended early: {ended}"] if ended else [])]))
    return 0


def _verdict(verdict: Verdict, indent: str) -> Iterator[str]:
    nodes = f" ({verdict.nodes} nodes)" if verdict.nodes > 1 else ""
    reason = f": {verdict.reason}" if verdict.reason else ""
    yield f"{indent}{verdict.how:<12}{verdict.title}{nodes}{reason}"
    if verdict.traceback:
        yield from (f"{indent}  {line}" for line in verdict.traceback.rstrip().splitlines())
    if verdict.calls:
        yield f"{indent}  calls back for {', '.join(verdict.calls)}: no native form for their types and shapes"
    for inner in verdict.inside:
        yield from _verdict(inner, indent + "    ")


def render(report: dict[str, Any]) -> str:
    """The report of `describe` as text."""
    notes = dict.fromkeys(report["defaults"], " (has a default)") | dict.fromkeys(report["states"], " (state)")
    lines = [f"input   {name}: {type}{notes.get(name, '')}" for name, type in report["inputs"].items()]
    lines += [f"output  {name}: {type}{notes.get(name, '')}" for name, type in report["outputs"].items()]
    lines.append("")
    lines += _tree(report["control_flow"], "") or ["no loops and no branches"]
    lines += ["", f"{report['nodes']} nodes"]
    lines += [f"{count:>7} {op}" for op, count in report["ops"].items()]
    return "\n".join(lines)


def _tree(entries: list[dict[str, Any]], indent: str) -> list[str]:
    lines: list[str] = []
    for entry in entries:
        text = _loop(entry) if entry["kind"] == "Loop" else _branch(entry)
        lines += [indent + line for line in text]
        if entry["kind"] == "Loop":
            lines += _tree(entry["inside"], indent + "    ")
            continue
        for branch in entry["inside"]:
            lines.append(f"{indent}  {branch['branch']}: {branch['nodes']} nodes")
            lines += _tree(branch["inside"], indent + "    ")
    return lines


def _loop(loop: dict[str, Any]) -> Iterator[str]:
    yield f"Loop {loop['name']!r}: {loop['nodes']} nodes in the body"
    yield f"  trip count  {loop['trip_count']}"
    yield f"  condition   {loop['condition']}"
    for value in loop["carried"]:
        yield f"  carried     {value['name']}: {value['type']}{'' if value['used'] else ' (not used in the body)'}"
    for value in loop["scanned"]:
        how = f"axis {value['axis']}{', last first' if value['reverse'] else ''}"
        how += f", {value['part']} at a time" if value["part"] > 1 else ""
        yield f"  scanned     {value['name']}: {value['type']} by {how}, slice {value['slice']}"
    for value in loop["captured"]:
        yield f"  captured    {value['name']}: {value['type']}"
    for value in loop["collected"]:
        how = f"axis {value['axis']}{', prepended' if value['reverse'] else ''}"
        where = "on" if value["new_axis"] else "along"
        yield f"  collected   {value['name']}: {value['element']} {where} {how}"
    for value in loop["last"]:
        yield f"  last        {value['name']}: {value['type']}"


def _branch(branch: dict[str, Any]) -> Iterator[str]:
    yield f"If {branch['name']!r}: on {branch['condition']}"
    for value in branch["captured"]:
        yield f"  captured    {value['name']}: {value['type']}"
    for value in branch["gives"]:
        yield f"  gives       {value['name']}: {value['type']}"
