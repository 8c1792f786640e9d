"""Optimise a model: fold constants in bounded memory, simplify, remove what is not needed.

Results stay the same, bit for bit, unless --fast-math is given.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import Any

from msgspec.structs import asdict

from whorl.api.models import save
from whorl.api.optimizing import optimize
from whorl.cli.arguments import add_model, add_output, count, load_options, module_of, save_options, seconds, size
from whorl.cli.documents import print_document
from whorl.cli.op_table import count_ops, op_document, op_lines
from whorl.cli.progress import shows_progress, status_line
from whorl.passes.pipeline import PASSES
from whorl.passes.report import Report

SHOWN = 10
"""Reasons for what was not folded that are printed."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    names = ", ".join(each.__name__ for each in PASSES)
    add_model(parser)
    add_output(parser)
    parser.add_argument("--only", action="append", default=[], metavar="PASS", help=f"run this pass only: {names}")
    parser.add_argument(
        "--disable", action="append", default=[], metavar="NAME", help="leave out a pass, a rule, or folding an op"
    )
    parser.add_argument("--limit", type=count, metavar="N", help="stop after N edits, to find the one that goes wrong")
    parser.add_argument("--fast-math", action="store_true", help="regroup floating-point sums and products too")
    parser.add_argument(
        "--expansion-bound", type=float, metavar="N", help="a folded constant has at most N times its operands' bytes"
    )
    parser.add_argument(
        "--memory-budget",
        type=size,
        metavar="SIZE",
        help="constants held in memory, such as 512M; the rest goes to a temporary file (default: a quarter of RAM)",
    )
    parser.add_argument(
        "--disk-budget",
        type=size,
        metavar="SIZE",
        help="temporary files, such as 2G (default: a quarter of what is free)",
    )
    parser.add_argument("--timeout", type=seconds, metavar="SECONDS", help="seconds allowed to optimizing")
    parser.add_argument(
        "--report",
        nargs="?",
        choices=("text", "json"),
        const="text",
        help="also say how often constants of each kind of op were folded; as json, all that --json says",
    )


def execute(arguments: argparse.Namespace) -> int:
    options = save_options(arguments)
    report, began = Report(), time.process_time()
    with status_line(shows_progress(arguments), lambda: describe(report)):
        module = optimize(
            arguments.model,
            fast_math=arguments.fast_math,
            expansion_bound=arguments.expansion_bound,
            memory_budget=arguments.memory_budget,
            disk_budget=arguments.disk_budget,
            only=arguments.only,
            disabled=arguments.disable,
            limit=arguments.limit,
            timeout=arguments.timeout,
            report=report,
            options=load_options(arguments),
        )
        save(module, arguments.output, **asdict(options))
    figures = {
        "output": arguments.output,
        "file_bytes": {"before": bytes_beside(arguments.model), "after": bytes_beside(arguments.output)},
        "cpu_seconds": round(time.process_time() - began, 3),
        "peak_memory": peak_memory(),
    }
    ops = count_ops(module_of(arguments, needs_weights=False)), count_ops(module)
    if arguments.json or arguments.report == "json":
        print_document(figures | report.as_dict() | {"ops": op_document(*ops)})
    else:
        print("\n".join([*lines(report, figures, arguments.report is not None), *op_lines(*ops)]))
    return 0


def describe(report: Report) -> str:
    """How far optimizing is."""
    runs = list(report.runs)
    if not runs:
        return "reading"
    return f"{len(runs)} passes: {sum(run.edits for run in runs)} edits, {runs[-1].nodes} nodes"


def lines(report: Report, figures: dict[str, Any], has_counters: bool) -> list[str]:
    """The report as text, with the counters of constant propagation where these are asked for."""
    sizes = figures["file_bytes"]
    text = [
        f"wrote {figures['output']}: {report.nodes_before} nodes before, {report.nodes_after} after; "
        f"{sizes['before']} bytes before, {sizes['after']} after",
        f"{figures['cpu_seconds']} s of CPU, {figures['peak_memory'] >> 20} MiB of memory at most, "
        f"{report.peak_bytes >> 20} MiB of folded constants, {report.spilled_bytes >> 20} MiB in a temporary file",
        *(report.constprop_lines() if has_counters else ()),
    ]
    if report.skipped:
        text.append("not folded:")
    text += [f"  {op} ({n}): {reason}" for (op, reason), n in report.skipped.most_common(SHOWN)]
    return text


def bytes_beside(path: str) -> int:
    """The bytes of a model file and of the weights beside it that bear its name."""
    data = Path(path + ".data")
    return Path(path).stat().st_size + (data.stat().st_size if data.is_file() else 0)


def peak_memory() -> int:
    """The most memory that this process had at a time, in bytes; 0 where the system does not tell."""
    try:
        import resource
    except ModuleNotFoundError:
        return 0
    unit = 1 if sys.platform == "darwin" else 1 << 10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
