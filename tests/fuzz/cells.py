"""Cells of the coverage table: a form of an op, an element type, a position in the program."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from fuzz import elementwise_forms, movement_forms, numeric_forms
from fuzz.forms import Form
from whorl.ir.graph import REGISTRY, Op

POSITIONS = ("main", "loop", "taken", "dead", "function")
USES = ("output", "carried", "collected", "captured", "dead")
NEIGHBOURS = ("alone", "read before", "read after", "read around", "two writers")


@dataclass(frozen=True)
class Cell:
    """One cell; `form` is a number in `all_forms()`."""

    form: int
    dtype: str
    position: str

    @property
    def op(self) -> str:
        return all_forms()[self.form].op

    def __str__(self) -> str:
        return f"{self.op}/{self.form} {self.dtype} {self.position}"


@cache
def all_forms() -> tuple[Form, ...]:
    return (*elementwise_forms.forms(), *movement_forms.forms(), *numeric_forms.forms())


@cache
def all_cells() -> tuple[Cell, ...]:
    return tuple(Cell(n, d, p) for n, form in enumerate(all_forms()) for d in form.dtypes() for p in POSITIONS)


def native_ops() -> Iterator[str]:
    """Names of the ops that say how to be native code."""
    for name, kind in sorted(REGISTRY.items()):
        if kind.lower is not Op.lower or kind.decompose is not Op.decompose:
            yield name


def without_cells() -> dict[str, str]:
    """Native ops of which there is no cell, and why."""
    of_tables = [name for name in native_ops() if REGISTRY[name].domain in ("ai.onnx.ml", "ai.onnx.preview.training")]
    of_sequences = ("SequenceConstruct", "SequenceEmpty", "SequenceErase", "SplitToSequence")
    return {
        **dict.fromkeys(of_sequences, "the fuzzer of loops makes them (tests/fuzz/expressions.py)"),
        **dict.fromkeys(("CustomOp", "ImpureCustomOp"), "who registers one says what it computes"),
        **dict.fromkeys(("Det", "DFT", "STFT"), "their native forms are other sums, which their tests compare"),
        "TfIdfVectorizer": "its tests run the native form of random pools",
        **dict.fromkeys(of_tables, "tests/ml_oracle.py compares the native form in every test of the op"),
    }
