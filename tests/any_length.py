"""Models of one op whose inputs have lengths that only a run knows, and what native code leaves to `run` in them.

`python tests/any_length.py [--write]` lists the forms of ops, as the fuzzer writes them, that call `run` from inside
where lengths have names; `tests/any_length.txt` holds that list, which only shrinks.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from fuzz.cells import all_forms
from fuzz.elements import draw
from fuzz.forms import OPSET, Form, Operand, letters, onnx_type, shape
from fuzz.scopes import tensor
from onnx import ModelProto, NodeProto, TensorProto, ValueInfoProto, helper

import whorl
from whorl.ir import dims
from whorl.ir.dims import Dim
from whorl.ir.types import AnyShape, Fact, Known, TensorType
from whorl.lowering.expressions import Unsupported
from whorl.lowering.graphs import lower_graph
from whorl.passes.open_streams import open_streams

LIST = Path(__file__).parent / "any_length.txt"
PREFERRED = ("float32", "int64", "uint8", "int8", "bool")
"""The element types that a form is tried with, the first that it takes."""
Feeds = dict[str, np.ndarray]


@dataclass(frozen=True)
class Case:
    """A form whose letters are names of lengths that inputs share; `apart`, if every axis has a name of its own."""

    form: Form
    apart: bool


def cases() -> dict[str, Case]:
    """The forms of tensors with lengths that may differ from run to run, by a title of their own."""
    result: dict[str, Case] = {}
    for form in all_forms():
        operands = [o for o in form.operands if o is not None]
        if form.sequence or not form.dtypes() or any(o.sequence or _is_masked(o) for o in operands):
            continue
        if not any(letters(o.dims) or letters((o.draw,)) for o in operands):
            continue
        title = stem = " ".join([form.op, *(f"[{' '.join(o.dims)}]" for o in operands), *_attributes(form)])
        for n in range(2, 9):
            if title in result:
                title = f"{stem} ({n})"
        result[title] = Case(form, False)
        result[f"{title} apart"] = Case(form, True)
    return result


def _is_masked(operand: Operand) -> bool:
    return operand.draw.partition(" ")[0] in ("places", "spots", "masked")


def _attributes(form: Form) -> Iterator[str]:
    for name, value in form.attributes(dtype_of(form)).items():
        if not isinstance(value, TensorProto):
            yield f"{name}={value}".replace(" ", "")


def dtype_of(form: Form) -> str:
    """The element type that a form is tried with."""
    return next((name for name in PREFERRED if name in form.dtypes()), form.dtypes()[0])


def model_of(case: Case, lengths: dict[str, int]) -> ModelProto:
    """A model of one node. Numbers are constants; lengths are read off an input of that shape."""
    form, dtype = case.form, dtype_of(case.form)
    nodes: list[NodeProto] = []
    inputs: list[ValueInfoProto] = []
    constants: list[TensorProto] = []
    for n, operand in enumerate(form.operands):
        if operand is None:
            continue
        if _is_constant(operand):
            constants.append(tensor(_array(form, operand, lengths), f"x{n}", operand.dtype or dtype))
        elif own := _measured(operand):
            inputs.append(_declare(f"s{n}", "float32", own, case))
            nodes.append(helper.make_node("Shape", [f"s{n}"], [f"x{n}"]))
        else:
            inputs.append(_declare(f"x{n}", operand.dtype or dtype, operand.dims, case))
    names = ["" if operand is None else f"x{n}" for n, operand in enumerate(form.operands)]
    results = [f"y{n}" for n in range(len(form.results))]
    nodes.append(helper.make_node(form.op, names, results, **form.attributes(dtype)))
    types = [onnx_type(name) for name in form.result_dtypes(dtype)]
    outputs = [helper.make_tensor_value_info(name, type, None) for name, type in zip(results, types, strict=True)]
    graph = helper.make_graph(nodes, "main", inputs, outputs, constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=13)


def _is_constant(operand: Operand) -> bool:
    return operand.draw.startswith("is") and not letters(operand.dims)


def _measured(operand: Operand) -> tuple[str, ...]:
    """The dims of the tensor whose shape an operand is, if it is one."""
    kind, _, rest = operand.draw.partition(" ")
    return tuple(rest.split()) if kind == "lengths" and len(operand.dims) == 1 else ()


def _declare(name: str, dtype: str, own: tuple[str, ...], case: Case) -> ValueInfoProto:
    declared = [int(d) if d.isdigit() else d if d.isalpha() and not case.apart else None for d in own]
    return helper.make_tensor_value_info(name, onnx_type(dtype), declared)


def _array(form: Form, operand: Operand, lengths: dict[str, int], seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    own = shape(operand.dims, lengths)
    return np.asarray(draw(rng, operand.dtype or dtype_of(form), own, operand.draw, lengths, 0.0))


def feeds_of(form: Form, lengths: dict[str, int], seed: int = 0) -> Feeds:
    """The inputs of a form's model where letters are these lengths."""
    feeds: Feeds = {}
    for n, operand in enumerate(form.operands):
        if operand is None or _is_constant(operand):
            continue
        if own := _measured(operand):
            feeds[f"s{n}"] = np.zeros(shape(own, lengths), np.float32)
        else:
            feeds[f"x{n}"] = _array(form, operand, lengths, seed + n)
    return feeds


def calls_of(case: Case) -> list[str]:
    """The ops that native code calls, or the reason why there is none, where all lengths have names."""
    region = open_streams(whorl.load(model_of(case, dict.fromkeys("NMKLPQRHW", 4))))
    facts = [_over_names(case, value.name, value) for value in region.arguments]
    try:
        program = lower_graph(region, facts, takes_lengths=True).program
    except Unsupported as reason:
        return [str(reason)]
    return sorted({call.op.name for call in program.calls})


def _over_names(case: Case, name: str, fact: Fact) -> Fact:
    """The fact of an input of a form's model: over the letters, or names of its own."""
    operand = case.form.operands[int(name[1:])]
    assert operand is not None and isinstance(fact.type, TensorType) and not isinstance(fact.type.shape, AnyShape)
    texts = operand.dims if name.startswith("x") else _measured(operand)
    own = [dims.name(f"{name}.{axis}") if case.apart and not d.isdigit() else _dim(d) for axis, d in enumerate(texts)]
    return Known(fact.type.with_shape(tuple(own)))


def _dim(text: str) -> Dim:
    return int(text) if text.isdigit() else eval(text, {"__builtins__": {}}, {c: dims.name(c) for c in "NMKLPQRHW"})


@cache
def callers() -> tuple[str, ...]:
    """The titles of cases in which native code calls `run`, with what it calls."""
    return tuple(sorted(f"{title}: {', '.join(calls)}" for title, case in cases().items() if (calls := calls_of(case))))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="write the list to tests/any_length.txt")
    text = "".join(f"{line}\n" for line in callers())
    if parser.parse_args().write:
        LIST.write_text(text, encoding="utf-8")
    else:
        print(text, end="")
    print(f"{len(cases()) - len(callers())} of {len(cases())} forms call nothing")


if __name__ == "__main__":
    main()
