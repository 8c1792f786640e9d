"""The feeds of a run from the command line: inputs that are given, random values for the rest."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from whorl.api.synthetic import DEFAULT_SIZE, fitting_lengths, lengths_of, synthetic_feeds
from whorl.cli.arguments import UsageError, sizes_of
from whorl.cli.inputs import read_inputs
from whorl.errors import LimitError, RunError
from whorl.ir.graph import Module
from whorl.ir.infer import names_in_type


def feeds_of(arguments: argparse.Namespace, module: Module, fills: bool = True) -> dict[str, Any]:
    """The inputs that `--input` gives, and random values for the others if it `fills` them.

    Lengths of named dims are those of `--dim`, of the inputs given, or 2. Errors: UsageError, RunError.
    """
    given = read_inputs(arguments.input, module)
    sizes = _sizes(arguments, module)
    return synthetic_feeds(module, arguments.random or 0, lengths_of(module, given) | sizes) | given if fills else given


@contextmanager
def naming_lengths(arguments: argparse.Namespace, module: Module, feeds: dict[str, Any]) -> Iterator[None]:
    """Where a run inside fails, say which lengths were made up for it, and by which options to choose others."""
    try:
        yield
    except LimitError:
        raise
    except RunError as error:
        given = {name: feeds[name] for name in read_inputs(arguments.input, module)}
        sizes = lengths_of(module, given) | _sizes(arguments, module)
        random = [value.type for value in module.main.arguments if value.name in feeds and value.name not in given]
        drawn = sorted(set().union(*map(names_in_type, random)) - sizes.keys())
        if not drawn:
            raise
        better = fitting_lengths(module, sizes, drawn)
        flags = " ".join(f"--dim {name}={better.get(name, 'N')}" for name in better or drawn)
        fix = f"choose lengths that the model takes: {flags} (a length that nobody chose is {DEFAULT_SIZE})"
        raise type(error)(error.message, error.where, fix) from None


def _sizes(arguments: argparse.Namespace, module: Module) -> dict[str, int]:
    """The sizes that `--dim` options give to dims of inputs. Errors: UsageError for a name that no input has."""
    sizes = sizes_of(arguments.dim)
    known = set().union(*(names_in_type(value.type) for value in module.main.arguments))
    for name in sorted(sizes.keys() - known):
        raise UsageError(f"no input has a dim {name!r}", fix=f"choose from {', '.join(sorted(known)) or 'none'}")
    return sizes
