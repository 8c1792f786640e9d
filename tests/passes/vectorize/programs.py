"""Programs whose loops become ops on all iterations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
from passes.bits import assert_same_bits, copied, interpreted
from passes.programs import read

from whorl.ir.graph import Module
from whorl.ir.verify import verify
from whorl.ops.control.flow import Loop
from whorl.passes.context import Context, PassOptions
from whorl.passes.vectorize.control_flow import vectorize_control_flow


def vectorized(text: str, **options: object) -> tuple[Module, dict[str, str]]:
    """The module after its loops became ops on all iterations, and why others did not."""
    module = read(text)
    remaining = vectorize_control_flow(module, Context(module, PassOptions(**options)))  # type: ignore[arg-type]
    verify(module)
    return module, remaining


def kinds(module: Module) -> Iterator[str]:
    return (node.op.name for node in module.nodes())


def check(text: str, *feeds: Mapping[str, object], **options: object) -> Module:
    """No loop remains, and every feed gives the bits that it gave."""
    source = read(text)
    module, remaining = vectorized(text, **options)
    assert not remaining and not any(isinstance(node.op, Loop) for node in module.nodes())
    for feed in feeds:
        arrays = {name: np.asarray(value) for name, value in feed.items()}
        assert_same_bits(interpreted(copied(source), arrays), interpreted(module, arrays))
    return module


def reason(text: str, **options: object) -> str:
    """Why the one loop of a program remains."""
    (why,) = vectorized(text, **options)[1].values()
    return why
