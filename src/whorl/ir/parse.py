"""From the text form back to modules: names become values, and every fault has its line and column."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from whorl.errors import LoadError, TypeRuleError
from whorl.ir.constants import Constant
from whorl.ir.fields import build_op, check_arity, named, suggest
from whorl.ir.grammar import place, read
from whorl.ir.graph import Module, Node, Region, Value, walk
from whorl.ir.infer import Inference, names_of
from whorl.ir.syntax import Line, Made, ModuleText, RegionText, Syntax
from whorl.ir.types import same_kind
from whorl.ir.walk import clone_region

MAX_DEPTH = 96
"""Brackets that may be open at once unless the caller allows more."""


def parse_module(text: str, *, check: bool = True, max_depth: int = MAX_DEPTH) -> Module:
    """The module that `print_module` made the text from; the ops that it names must be defined already.

    The types in the text are taken as they are. With `check`, inference must agree with them in everything but shape.
    Errors: LoadError with line, column and fix.
    """
