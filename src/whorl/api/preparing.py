"""The module that a session runs: the one that was read, faster by what leaves every bit, error and limit as it was."""

from __future__ import annotations

import os

from msgspec.structs import replace

from whorl.api.models import save
from whorl.ir.collector import collector_paused
from whorl.ir.graph import Module
from whorl.ir.walk import clone_region
from whorl.passes import session
from whorl.passes.embed_constants import embed_constants
from whorl.passes.separate_strings import mixes_strings

ALL = 99
"""The level of `GraphOptimizationLevel.ORT_ENABLE_ALL`."""
HOISTED_BYTES = 1 << 26
"""Memory that what is computed before one loop may take; nothing, where the memory of runs is limited."""


def prepare(
    module: Module,
    level: int = ALL,
    *,
    is_shared: bool = False,
    has_memory_limit: bool = False,
    path: str | os.PathLike[str] = "",
) -> Module:
    """The module for a session of an optimisation level: the very one, changed, unless it `is_shared`.

    `path` names a file for what the passes made, which the session runs with its constants copied into loop bodies.
    Errors: SaveError.
    """
    if level > 0 or mixes_strings(module):
        module = replace(module, main=clone_region(module.main)) if is_shared else module
        with collector_paused():
            session.prepare(module, level, 0 if has_memory_limit else HOISTED_BYTES)
    if path:
        save(module, path)
    if level > 0:
        embed_constants(module)
    return module
