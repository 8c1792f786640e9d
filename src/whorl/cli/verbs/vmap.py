"""Write a model that computes many rows at once: inputs and outputs get an axis for them.

Each row gives what the model gives for it alone. A node that cannot be computed for many rows is named with the
reason, and nothing is written.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from msgspec.structs import asdict

from whorl.api.models import save
from whorl.api.vmapping import vmap
from whorl.cli.arguments import add_model, add_output, load_options, save_options, seconds
from whorl.cli.documents import print_document
from whorl.errors import WhorlError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_model(parser)
    add_output(parser)
    parser.add_argument("--timeout", type=seconds, metavar="SECONDS", help="seconds allowed to mapping")
    parser.add_argument(
        "--axis",
        action="append",
        default=[],
        metavar="NAME=AXIS",
        help="an input that differs by row, and the axis that it gets; the others are shared (without: all get axis 0)",
    )
    parser.add_argument(
        "--out-axis",
        action="append",
        default=[],
        metavar="NAME=AXIS",
        help="the axis that an output gets; none for one that is the same for all rows (default: axis 0)",
    )
    parser.add_argument("--name", default="batch", help="the name of the new dim (default batch)")


def execute(arguments: argparse.Namespace) -> int:
    options = save_options(arguments)
    inputs, outputs = axes_of(arguments.axis), axes_of(arguments.out_axis)
    module = vmap(
        arguments.model,
        inputs or 0,
        out_axes=outputs,
        name=arguments.name,
        timeout=arguments.timeout,
        options=load_options(arguments),
    )
    save(module, arguments.output, **asdict(options))
    size, nodes = Path(arguments.output).stat().st_size, sum(1 for _ in module.nodes())
    if arguments.json:
        print_document({"output": arguments.output, "bytes": size, "nodes": nodes})
    else:
        print(f"wrote {arguments.output}: {nodes} nodes, rows along {arguments.name}, {size} bytes")
    return 0


def axes_of(entries: list[str]) -> dict[str, int | None]:
    """The axes of `NAME=AXIS` options; `none` is no axis."""
    axes: dict[str, int | None] = {}
    for entry in entries:
        name, _, text = entry.rpartition("=")
        if not name or not (text == "none" or text.removeprefix("-").isdigit()):
            raise WhorlError(f"{entry!r} names no axis", fix="write NAME=AXIS, such as x=0, or x=none")
        axes[name] = None if text == "none" else int(text)
    return axes
