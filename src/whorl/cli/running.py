"""A run of an edited module as the options of the command line say."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any

from whorl.api.preparing import prepare
from whorl.cli.arguments import limits_of
from whorl.ir.graph import Module
from whorl.runtime.session import Session


def run_module(arguments: argparse.Namespace, module: Module, inputs: Mapping[str, Any]) -> list[Any]:
    """All outputs of a module that is not needed afterwards."""
    prepare(module, has_memory_limit=arguments.max_memory is not None)
    session = Session(module, limits_of(arguments), arguments.backend, once=True)
    return session.execute(module.output_names, inputs)
