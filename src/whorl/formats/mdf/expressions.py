"""Expressions of MDF files: `parse` checks them, `evaluate` computes them, `emit` makes them nodes of the hub."""

from whorl.formats.mdf.emission import EmittedDraw, emit
from whorl.formats.mdf.evaluating import Draw, evaluate
from whorl.formats.mdf.syntax import Expression, parse

__all__ = ["Draw", "EmittedDraw", "Expression", "emit", "evaluate", "parse"]
