"""Run a model at every point of a design: all combinations of values, or samples of ranges.

SPEC is YAML with the entries grid, random, points, method, seed, and shared, as the options have them. Points lie side
by side in a run wherever that can be. A second start goes on where the first ended; see docs/sweeps.md.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from whorl.api.models import load
from whorl.cli.arguments import UsageError, add_model, count, load_options
from whorl.cli.inputs import parse_value, read_inputs
from whorl.cli.progress import parts_bar, shows_progress
from whorl.cli.verbs.score import report
from whorl.errors import RunError
from whorl.formats.mdf.model import MdfModel
from whorl.ir.dtypes import FLOAT64
from whorl.ir.graph import Module
from whorl.ir.types import TensorType
from whorl.scoring.designs import Design, design_of, read_range, read_values
from whorl.scoring.packages import package
from whorl.scoring.sweep import sweep_points

OWN = "steps", "dt", "record", "last", "shared"
"""The entries of SPEC beside those of a design."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_model(parser)
    parser.add_argument("spec", metavar="SPEC", nargs="?", help="a file of YAML that says the points")
    parser.add_argument(
        "-o", "--output", metavar="OUT", required=True, help="a group of Zarr (.zarr), or a folder of parts"
    )
    for flag, metavar, meaning in (
        ("--grid", "NAME=FROM:TO:COUNT", "values of which all combinations are points, or NAME=1,2,5"),
        ("--random", "NAME=FROM:TO", "a range to sample; NAME=FROM:TO:log has as many samples in each decade"),
        ("--input", "NAME=VALUE", "an input that is the same for all points"),
        ("--record", "NAME", "an output, or what a simulation records (default: all outputs)"),
    ):
        parser.add_argument(flag, action="append", default=[], metavar=metavar, help=meaning)
    parser.add_argument("--points", type=count, metavar="N", help="samples of the ranges")
    parser.add_argument(
        "--method", choices=("random", "latin", "sobol"), help="how ranges are sampled (default random)"
    )
    parser.add_argument("--seed", type=count, metavar="N", help="the seed of samples and of random numbers (default 0)")
    parser.add_argument("--batch", type=count, metavar="N", help="points a run (default: measured)")
    parser.add_argument("--on", choices=("local", "dask", "ray"), default="local", help="what computes the points")
    parser.add_argument("--address", metavar="URL", help="the cluster of Dask or Ray (default: one on this machine)")
    parser.add_argument("--workers", type=count, metavar="N", help="processes that compute points")
    group = parser.add_argument_group("MDF models", "run over time")
    group.add_argument("--steps", type=count, metavar="N", help="evaluations after the first one")
    group.add_argument("--dt", type=float, metavar="SECONDS", help="the time step of each of them")
    group.add_argument("--last", action="store_true", help="keep the last values only")


def execute(arguments: argparse.Namespace) -> int:
    reading = load_options(arguments)
    model = load(arguments.model, reading)
    spec = {} if arguments.spec is None else _read_spec(arguments.spec)
    own = {name: spec.pop(name) for name in OWN if name in spec}
    steps = own.get("steps") if arguments.steps is None else arguments.steps
    shared = dict(own.get("shared") or {}) | _shared(arguments.input, model)
    with parts_bar(shows_progress(arguments)) as progress:
        scored = sweep_points(
            arguments.model,
            _design(spec, arguments),
            arguments.output,
            steps=steps if steps is not None or isinstance(model, Module) else 0,
            dt=own.get("dt") if arguments.dt is None else arguments.dt,
            record=arguments.record or own.get("record"),
            last=arguments.last or bool(own.get("last")),
            shared=shared,
            seed=(arguments.seed or 0) if isinstance(model, MdfModel) else 0,
            on=arguments.on,
            batch=arguments.batch,
            workers=arguments.workers,
            address=arguments.address,
            options=reading,
            progress=progress,
        )
    return report(scored, arguments.json)


def _read_spec(path: str) -> dict[str, Any]:
    yaml = package("yaml")
    try:
        spec = yaml.safe_load(Path(path).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise UsageError(f"cannot read {path!r}: {getattr(error, 'strerror', None) or error}") from None
    if not isinstance(spec, Mapping):
        raise UsageError(f"{path!r} has no entries", fix="write grid or random, with values by name")
    return dict(spec)


def _design(spec: dict[str, Any], arguments: argparse.Namespace) -> Design:
    """The points of SPEC with what the options add and override."""
    data = dict(spec)
    for name, entries, read in (("grid", arguments.grid, read_values), ("random", arguments.random, read_range)):
        if entries:
            data[name] = {**(data.get(name) or {}), **_named(entries, f"--{name}", read)}
    own = {name: value for name in ("points", "method", "seed") if (value := getattr(arguments, name)) is not None}
    return design_of(data | own)


def _named(entries: list[str], flag: str, read: Callable[[str], Any]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for entry in entries:
        name, equals, text = entry.partition("=")
        if not equals or not name:
            raise UsageError(f"{flag} {entry!r} has no '='", fix=f"write {flag} NAME=...")
        try:
            values[name] = read(text)
        except RunError as error:
            raise UsageError(f"{flag} {entry!r}: {error.message}", fix=error.fix) from None
    return values


def _shared(entries: list[str], model: object) -> dict[str, Any]:
    if isinstance(model, Module):
        return read_inputs(entries, model)
    pairs = [entry.partition("=") for entry in entries]
    return {name: parse_value(name, text, TensorType(FLOAT64)) for name, _, text in pairs}
