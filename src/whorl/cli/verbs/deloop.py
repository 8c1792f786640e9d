"""Remove loops and branches from a model, for runtimes that have none, or that are slow at them.

A loop whose iterations are independent, or carry sums, extremes, last values and tensors that grow, becomes ops on all
iterations at once, for any trip count and any lengths. Other loops are unrolled, each If becomes both of its branches
and a selection. What cannot be removed is named with the reason, and nothing is written. Before it is, both models run
on random inputs of several lengths, here, in onnxruntime and in OpenVINO where these are installed, and onnxruntime
times both.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

from msgspec.structs import asdict

from whorl.api.delooping import (
    MAX_ITERATIONS,
    DeloopOptions,
    bounded,
    deloop_with_reasons,
    remaining_error,
)
from whorl.api.models import save
from whorl.api.paying import Delooped
from whorl.cli.arguments import add_model, add_output, count, dims_of, load_options, module_of, save_options, seconds
from whorl.cli.documents import print_document
from whorl.cli.inputs import read_inputs
from whorl.cli.op_table import count_ops, op_document, op_lines
from whorl.cli.progress import shows_progress, status_line
from whorl.cli.verification import Times, Verdict, compare_times, verify
from whorl.errors import DeloopError
from whorl.ir.graph import Module
from whorl.passes.targets.costs import EXPECTED
from whorl.passes.targets.targets import DEFAULT, TARGETS


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_model(parser)
    add_output(parser)
    parser.add_argument("--timeout", type=seconds, metavar="SECONDS", help="seconds allowed to delooping")
    parser.add_argument(
        "--max-iterations",
        type=count,
        default=MAX_ITERATIONS,
        metavar="N",
        help=f"copies of a body that may be made (default {MAX_ITERATIONS})",
    )
    parser.add_argument(
        "--exact",
        action="store_true",
        help="keep the bits of squared distances, which a matrix product rounds otherwise",
    )
    parser.add_argument(
        "--bound",
        action="append",
        default=[],
        metavar="LOOP=N",
        help="end a loop after N iterations at the latest, by the name of its node or of an output; a run that would "
        "take more gives what it has by then",
    )
    parser.add_argument(
        "--target",
        choices=TARGETS,
        default=DEFAULT,
        help="what the model is for. Without it, and for onnxruntime and whorl, what these are estimated to be slower "
        "at stays; for onnxruntime, linear recurrences become a linear LSTM. For any and the others all goes that can",
    )
    parser.add_argument(
        "--expect",
        action="append",
        default=[],
        metavar="NAME=SIZE",
        help=f"the length that a named dim mostly has, for these estimates (default {EXPECTED})",
    )
    parser.add_argument(
        "--only",
        action="append",
        default=[],
        metavar="NAME",
        help="a loop or branch that is to go, by the name of its node or of an output; others stay",
    )
    parser.add_argument("--partial", action="store_true", help="write the model also where something cannot be removed")
    parser.add_argument(
        "--no-verify",
        action="store_true",
        help="do not run both models on random inputs of several lengths, here and in engines that are installed",
    )
    parser.add_argument(
        "--dim", action="append", default=[], metavar="NAME=SIZE", help="fix the length of a named dim of the inputs"
    )
    parser.add_argument(
        "--input",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="fix the value of an input, such as a trip count; written as for `whorl run`",
    )


def execute(arguments: argparse.Namespace) -> int:
    options = save_options(arguments)
    source = module_of(arguments)
    inputs = read_inputs(arguments.input, source)
    steps = ["reading"]
    choices = DeloopOptions(
        max_iterations=arguments.max_iterations,
        dims=dims_of(arguments.dim),
        inputs=inputs,
        exact=arguments.exact,
        only=arguments.only,
        bounds=dims_of(arguments.bound, "--bound"),
        target=arguments.target,
        expected=dims_of(arguments.expect, "--expect"),
        progress=steps.append,
    )
    with status_line(shows_progress(arguments), lambda: steps[-1]):
        result = deloop_with_reasons(arguments.model, choices, arguments.timeout, load_options(arguments))
        if result.remaining and not arguments.partial:
            raise remaining_error(result)
        if choices.bounds:
            source = bounded(source, choices.bounds, load_options(arguments))
        verdict, times = _judge(arguments, source, result.module, choices)
    save(result.module, arguments.output, **asdict(options))
    return _print(arguments, source, result, verdict, times)


def _judge(
    arguments: argparse.Namespace, source: Module, module: Module, choices: DeloopOptions
) -> tuple[Verdict | None, Times | None]:
    """Whether the model gives the same without loops, and what both take in onnxruntime. Errors: DeloopError."""
    if arguments.no_verify:
        return None, None
    choices.say("running both models")
    verdict = verify(source, module, choices.inputs)
    if verdict.difference:
        raise DeloopError(
            f"the model without loops gives something else {verdict.difference}",
            fix="report this; --only leaves loops as they are, --no-verify writes the model all the same",
        )
    if "onnxruntime" not in verdict.engines:
        return verdict, None
    choices.say("timing both models in onnxruntime")
    return verdict, compare_times(source, module, choices.inputs, choices.expected)


def _print(
    arguments: argparse.Namespace, source: Module, result: Delooped, verdict: Verdict | None, times: Times | None
) -> int:
    size, nodes = Path(arguments.output).stat().st_size, sum(1 for _ in result.module.nodes())
    ops = count_ops(source), count_ops(result.module)
    if arguments.json:
        document = {"output": arguments.output, "bytes": size, "nodes": nodes}
        document |= {"removed": result.removed, "remaining": result.remaining, "ops": op_document(*ops)}
        document |= {"verified": None if verdict is None else asdict(verdict)}
        print_document(document | {"onnxruntime": None if times is None else asdict(times)})
    else:
        written = f"wrote {arguments.output}: {nodes} nodes, {_left(result)}, {size} bytes"
        print("\n".join([*_lines(result, verdict, times), *op_lines(*ops), written]))
    return 0


def _left(result: Delooped) -> str:
    """What is left of control flow."""
    count = sum(1 for node in result.module.nodes() if node.regions)
    return f"{count} loops and branches left" if count else "no loop and no branch"


def _lines(result: Delooped, verdict: Verdict | None, times: Times | None) -> Iterator[str]:
    yield from (f"removed  {where}: {form}" for where, form in result.removed.items())
    yield from (f"remains  {where}: {why}" for where, why in result.remaining.items())
    if verdict is not None:
        count = len(verdict.lengths)
        yield f"equal    in {', '.join(verdict.engines)}: {count} random run{'' if count == 1 else 's'}"
        yield from (f"note     {note}" for note in verdict.notes)
    if times is not None:
        lengths = ", ".join(f"{name} = {length}" for name, length in times.lengths.items())
        pair = f"{1e6 * times.before:.1f} µs before, {1e6 * times.after:.1f} µs after"
        yield f"time     in onnxruntime{lengths and ' at '}{lengths}: {pair}"
