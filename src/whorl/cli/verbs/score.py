"""Compute a model for every row of a table: Parquet, Arrow, CSV, .npz or Zarr in, a folder of parts out.

Columns feed the inputs of their names, lists are tensors, and each output becomes a column. Rows run in batches where
they do not meet in the model. A second start goes on where the first ended; see docs/cluster.md.
"""

from __future__ import annotations

import argparse

from msgspec.structs import asdict

from whorl.api.models import load_module
from whorl.api.options import SessionOptions
from whorl.cli.arguments import UsageError, add_limits, add_model, count, load_options
from whorl.cli.documents import print_document
from whorl.cli.inputs import read_inputs
from whorl.cli.progress import parts_bar, shows_progress
from whorl.scoring.score import Scored, score


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_model(parser)
    parser.add_argument("data", metavar="DATA", nargs="+", help="files, folders or patterns; whatever fsspec opens")
    parser.add_argument(
        "-o", "--output", metavar="OUT", required=True, help="the folder of parts: .parquet (default), .arrow or .csv"
    )
    parser.add_argument("--on", choices=("local", "dask", "ray"), default="local", help="what computes the parts")
    parser.add_argument("--address", metavar="URL", help="the cluster of Dask or Ray (default: one on this machine)")
    parser.add_argument("--workers", type=count, metavar="N", help="processes that compute parts")
    parser.add_argument(
        "--map",
        action="append",
        default=[],
        metavar="INPUT=COLUMN",
        help="the column that feeds an input, or several between commas that lie side by side in it",
    )
    parser.add_argument(
        "--input", action="append", default=[], metavar="NAME=VALUE", help="an input that is the same for all rows"
    )
    parser.add_argument(
        "--only", action="append", default=[], metavar="OUTPUT", help="an output to write (default: all)"
    )
    parser.add_argument("--keep", action="append", default=[], metavar="COLUMN", help="a column to copy")
    parser.add_argument(
        "--on-error",
        choices=("raise", "null"),
        default="raise",
        help="a row that fails ends the run (default), or has no results and a text in the column error",
    )
    parser.add_argument("--batch", type=count, metavar="ROWS", help="rows a run (default: measured)")
    parser.add_argument("--part-rows", type=count, metavar="ROWS", help="rows a part, about (default: 262144)")
    add_limits(parser)


def execute(arguments: argparse.Namespace) -> int:
    reading = load_options(arguments)
    module = load_module(arguments.model, reading)
    session_options = SessionOptions()
    for name in ("max_iterations", "timeout", "backend"):
        setattr(session_options, name, getattr(arguments, name))
    with parts_bar(shows_progress(arguments)) as progress:
        scored = score(
            arguments.model,
            arguments.data,
            arguments.output,
            on=arguments.on,
            columns=_columns(arguments.map),
            shared=read_inputs(arguments.input, module),
            outputs=arguments.only or None,
            keep=arguments.keep,
            on_error=arguments.on_error,
            batch=arguments.batch,
            part_rows=arguments.part_rows,
            max_memory=arguments.max_memory,
            workers=arguments.workers,
            address=arguments.address,
            options=reading,
            session_options=session_options,
            progress=progress,
        )
    return report(scored, arguments.json)


def report(scored: Scored, as_json: bool) -> int:
    """Say what was written; returns the exit code."""
    if as_json:
        print_document(asdict(scored))
    else:
        print(sentence(scored))
    return int(scored.failed > 0)


def sentence(scored: Scored) -> str:
    """What was written, as a line of text."""
    parts = f"{scored.parts - scored.skipped} parts written" + (
        f", {scored.skipped} were there" if scored.skipped else ""
    )
    failed = f", {scored.failed} of them failed" if scored.failed else ""
    return f"{scored.output}: {parts}; {scored.rows} rows{failed}, {scored.batch} a run {scored.layout}"


def _columns(entries: list[str]) -> dict[str, str | list[str]]:
    columns: dict[str, str | list[str]] = {}
    for entry in entries:
        name, equals, text = entry.partition("=")
        if not equals or not name or not text:
            raise UsageError(f"--map {entry!r} is not INPUT=COLUMN", fix="write --map x=length, or --map x=a,b,c")
        columns[name] = text.split(",") if "," in text else text
    return columns
