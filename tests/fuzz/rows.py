"""Ops of many rows at once beside the same ops row after row: `python -m fuzz.rows PROGRAMS [SEED]`.

Each program is one form with random lengths, rows and operands that have rows; tests is on PYTHONPATH.
"""

from __future__ import annotations

import sys
from collections import Counter
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
from onnx import ModelProto, helper, numpy_helper
from passes.bits import interpreted

import whorl
from fuzz.cell_programs import LENGTHS
from fuzz.cells import all_forms
from fuzz.elements import draw
from fuzz.forms import OPSET, STASHED, SUM, Form, Operand, Slack, onnx_type, shape
from fuzz.likeness import difference
from fuzz.single_forms import forms as single_forms
from whorl.ir import dims
from whorl.ir.graph import REGISTRY, Module
from whorl.passes.vectorize.batched import CannotVectorize
from whorl.passes.vectorize.modules import map_module
from whorl.passes.vectorize.rules import rule_of

ROWS = (0, 1, 2, 3)
SUMMED = Slack(16, 256)
"""How far sums may lie from those of one row, which go in another order."""
SHARED = ("is", "lengths")
"""How operands are drawn that say axes, lengths and numbers of elements, which rows share."""


WITHOUT_FORMS = {"SequenceAt": "its sequences are parts of one tensor, which its own test cuts"}
"""Ops with a rule that no form here reaches."""


@cache
def forms_of_rows() -> tuple[Form, ...]:
    """The forms of ops with a rule, but those of sequences and of lengths that only the run knows."""
    return tuple(form for form in (*all_forms(), *single_forms()) if _is_ruled(form) and _is_plain(form))


def _is_ruled(form: Form) -> bool:
    return rule_of(REGISTRY[form.op]) is not None and form.op not in WITHOUT_FORMS


def _is_plain(form: Form) -> bool:
    present = [operand for operand in form.operands if operand is not None]
    return bool(present) and not any(operand.sequence or "?" in operand.dims for operand in present)


@dataclass(frozen=True)
class RowProgram:
    """One op: a model of it, the numbers of the operands that have rows, and the operands row by row."""

    form: Form
    dtype: str
    model: ModelProto
    mapped: frozenset[str]
    rows: list[dict[str, np.ndarray]]
    count: int
    is_open: bool

    def __str__(self) -> str:
        shapes = {name: list(x.shape) for name, x in self.rows[0].items()}
        return f"{self.form.op} {self.dtype} of {shapes}, {sorted(self.mapped)} of {self.count} rows"


def write(form: Form, rng: np.random.Generator) -> RowProgram:
    """A program of a form. Rows differ in the operands that have rows, which some of the others may have, too."""
    dtype = str(rng.choice(form.dtypes()))
    lengths = {c: int(rng.choice(pool)) for group, pool in LENGTHS.items() for c in group}
    count, is_open = int(rng.choice(ROWS)), bool(rng.random() < 0.5)
    operands = [(f"x{k}", replace(o, dtype=o.dtype or dtype)) for k, o in enumerate(form.operands) if o is not None]
    constants = {name for name, o in operands if o.draw.split(" ")[0] in SHARED}
    free = [name for name, _ in operands if name not in constants] or [operands[0][0]]
    constants -= set(free)
    mapped = {name for name in free if rng.random() < 0.6} if rng.random() < 0.5 else {free[0]}
    mapped = mapped or {str(rng.choice(free))}
    drawn = [{name: _array(o, lengths, rng) for name, o in operands} for _ in range(max(1, count))]
    rows = [{name: x if name in mapped else drawn[0][name] for name, x in row.items()} for row in drawn]
    model = _model(form, dtype, dict(operands), {name: rows[0][name] for name in constants}, is_open, lengths)
    left = [{name: x for name, x in row.items() if name not in constants} for row in rows]
    return RowProgram(form, dtype, model, frozenset(mapped), left, count, is_open)


def _array(operand: Operand, lengths: dict[str, int], rng: np.random.Generator) -> np.ndarray:
    return draw(rng, operand.dtype, shape(operand.dims, lengths), operand.draw, lengths, 0.1)


def _model(
    form: Form,
    dtype: str,
    operands: dict[str, Operand],
    constants: dict[str, np.ndarray],
    is_open: bool,
    lengths: dict[str, int],
) -> ModelProto:
    """One node; lengths of inputs are names where they are open."""
    names = [f"x{k}" if o is not None else "" for k, o in enumerate(form.operands)]
    results = [f"y{k}" for k in range(len(form.results))]
    domain = REGISTRY[form.op].domain
    node = helper.make_node(form.op, names, results, domain=domain, **form.attributes(dtype))
    infos = [
        helper.make_tensor_value_info(name, onnx_type(o.dtype), _declared(o, is_open, lengths))
        for name, o in operands.items()
        if name not in constants
    ]
    types = zip(results, form.result_dtypes(dtype), strict=True)
    outputs = [helper.make_tensor_value_info(name, onnx_type(type), None) for name, type in types]
    initializers = [numpy_helper.from_array(np.asarray(x), name) for name, x in constants.items()]
    graph = helper.make_graph([node], "row", infos, outputs, initializers)
    opsets = [
        helper.make_opsetid("", OPSET),
        helper.make_opsetid("ai.onnx.ml", 5),
        helper.make_opsetid("ai.onnx.preview.training", 1),
    ]
    return helper.make_model(graph, opset_imports=opsets, ir_version=13)


def _declared(operand: Operand, is_open: bool, lengths: dict[str, int]) -> list[Any]:
    named = [dim if is_open and dim.isalpha() else None for dim in operand.dims]
    return [name or n for name, n in zip(named, shape(operand.dims, lengths), strict=True)]


@dataclass
class Rows:
    """What programs came to: how many of each op gave what the rows give, why others were refused, and faults."""

    done: Counter[str]
    refused: Counter[str]
    faults: list[str]

    def take(self, program: RowProgram) -> None:
        try:
            module = whorl.load(program.model)
        except whorl.WhorlError:
            return
        try:
            batched = mapped_module(module, program)
        except CannotVectorize as reason:
            self.refused[f"{program.form.op}: {reason}"] += 1
            return
        except whorl.WhorlError as error:
            self.faults.append(f"{program}: {error}")
            return
        fault = _fault(module, batched, program)
        if fault is None:
            return
        if fault:
            self.faults.append(f"{program}: {fault}")
        else:
            self.done[program.form.op] += 1


def mapped_module(module: Module, program: RowProgram) -> Module:
    inputs = {value.name: 0 if value.name in program.mapped else None for value in module.main.arguments}
    rows = dims.name("rows") if program.is_open else program.count
    return map_module(module, inputs, dict.fromkeys(module.output_names, 0), rows)


def _fault(module: Module, batched: Module, program: RowProgram) -> str | None:
    """What differs from the rows; None where the op fails for one of them."""
    expected = [interpreted(module, row) for row in program.rows]
    if any(results is None for results in expected):
        return None
    first = program.rows[0]
    feeds = {
        name: np.stack([row[name] for row in program.rows[: program.count]])
        if name in program.mapped and program.count
        else np.zeros((0, *x.shape), x.dtype)
        if name in program.mapped
        else x
        for name, x in first.items()
    }
    actual = interpreted(batched, feeds)
    if actual is None:
        return "fails"
    slack = slack_of(program.form, program.dtype)
    for k, got in enumerate(actual):
        each = [results[k] for results in expected if results is not None]
        want = np.stack(each)[: program.count]
        if text := difference(want, got, slack):
            return f"y{k}: {text}"
    return ""


def slack_of(form: Form, dtype: str) -> Slack:
    if form.kind != SUM:
        return form.slack
    wide = 2.0**29 if form.op in STASHED and dtype == "float64" else 1.0
    slack = form.slack + SUMMED
    return Slack(slack.ulps * wide, slack.units * wide)


def campaign(programs: int, seed: int) -> Rows:
    """So many programs, which go through all forms in turns."""
    result = Rows(Counter(), Counter(), [])
    forms = forms_of_rows()
    for number in range(programs):
        rng = np.random.default_rng([seed, number])
        result.take(write(forms[number % len(forms)], rng))
    return result


def main() -> int:
    programs, seed = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0
    result = campaign(programs, seed)
    for text in result.faults[:100]:
        print(text)
    for text, count in result.refused.most_common():
        print(f"{count} x {text}")
    print(
        f"{programs} programs, {sum(result.done.values())} alike of {len(result.done)} ops, {len(result.faults)} faults"
    )
    return bool(result.faults)


if __name__ == "__main__":
    sys.exit(main())
