"""What a batching rule is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from whorl.ir.build import Builder
from whorl.passes.vectorize.batched import Batched, Operands

Rule = Callable[[Any, Operands, Builder], Sequence[Batched]]
"""Gives the outputs of an op for all rows at once. Errors: CannotVectorize."""
