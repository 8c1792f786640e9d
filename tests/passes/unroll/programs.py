"""Programs whose control flow is unrolled, and what stays of it."""

from __future__ import annotations

import numpy as np
from passes.bits import assert_same_bits, copied, interpreted
from passes.programs import Case, read

from whorl.ir.graph import Module
from whorl.ir.text import print_module
from whorl.ir.verify import verify
from whorl.passes.context import Context, PassOptions
from whorl.passes.unroll.control_flow import unroll_control_flow

MOST = 16
"""Copies of a body that are made."""


def unrolled(text: str, most: int = MOST, **options: object) -> tuple[Module, dict[str, str]]:
    """The module after its control flow is unrolled, and what remains, with the reason."""
    module = read(text)
    remaining = unroll_control_flow(module, Context(module, PassOptions(**options)), most)  # type: ignore[arg-type]
    verify(module)
    return module, {where: str(reason) for where, reason in remaining.items()}


def reason(text: str, most: int = MOST) -> str:
    """Why the one loop or branch of a program remains."""
    (why,) = unrolled(text, most)[1].values()
    return why


def check_unrolled(case: Case) -> None:
    """Nothing remains, the text is that of the case, and results are the same."""
    module, remaining = unrolled(case.before)
    assert not remaining
    assert print_module(module).strip() == case.after.strip()


def check_results(text: str, *feeds: dict[str, object]) -> None:
    """Nothing remains, and every feed gives what it gave."""
    source = read(text)
    module, remaining = unrolled(text)
    assert not remaining
    for feed in feeds:
        arrays = {name: np.asarray(value) for name, value in feed.items()}
        assert_same_bits(interpreted(copied(source), arrays), interpreted(module, arrays))
