"""The suite as files for any language: the layout of onnx's backend tests, with JSON beside it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from onnx import OptionalProto, SequenceProto, TensorProto, TypeProto, ValueInfoProto, numpy_helper

from whorl.conformance.case import Case
from whorl.conformance.cases import THEMES, make_case
from whorl.conformance.clauses import CLAUSES
from whorl.conformance.files import README, read_json
from whorl.conformance.runner import matches
from whorl.conformance.values import Value
from whorl.errors import SaveError

ABOUT = """\
# The control-flow conformance suite of whorl, exported

Each case is a folder in the layout of onnx's backend tests, so what runs those runs these too:
`onnx.backend.test.loader.load_model_tests(FOLDER, "decided")`, or onnxruntime's `onnx_test_runner FOLDER/decided`.

| folder | cases | a run passes if |
|---|---|---|
| `decided` | {decided} | the outputs are those of `test_data_set_0`; sentences of ONNX's specification decide them |
| `open` | {open} | the same, but ONNX's text leaves room: the outputs are what whorl gives |
| `errors` | {errors} | loading or running `test_data_set_0` ends with an error; with `control`, if there, it does not |
| `checks` | {checks} | what `check` in `case.json` says holds of the outputs, which are drawn at random |

A case has `model.onnx`, the same as text in `model.onnxtxt`, `test_data_set_0/input_K.pb` and `output_K.pb` with
TensorProto, SequenceProto or OptionalProto as the graph declares, and `case.json`. Outputs agree in element type, shape
and every element (NaN equals NaN, 0 and -0 differ) unless `tolerance` says more. The values stand in `case.json` too.
`suite.json` has all rules and sentences.

"""
KINDS = "decided", "open", "errors", "checks"
CASE_KEYS = """\
## Keys of case.json

`theme` is the group of the case, `clauses` quotes the sentences that `decided_by` names.
"""


def export_suite(folder: Path, only: Sequence[str] | None = None) -> int:
    """Write the cases whose name matches one of `only`, by default all, below a folder; the number of cases.

    Errors: SaveError where the folder cannot be made, or has something in it.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        has_files = any(folder.iterdir())
    except OSError as error:
        raise SaveError(f"cannot write {folder}: {error.strerror}") from error
    if has_files:
        raise SaveError(
            f"{folder} is not empty", fix="name a new folder: cases of another version would mix with these"
        )
    counts: dict[str, int] = dict.fromkeys(KINDS, 0)
    for theme in THEMES:
        for row in read_json(theme)["cases"]:
            if not matches(row["name"], only):
                continue
            case = make_case(theme, row)
            kind = _kind(case)
            counts[kind] += 1
            export_case(case, _metadata(theme, row), folder / kind / case.name)
    _write_json(folder / "suite.json", read_json("suite"))
    about = README.read_text(encoding="utf-8").partition("\n| key of a case")
    (folder / "README.md").write_text(ABOUT.format(**counts) + CASE_KEYS + about[1] + about[2], encoding="utf-8")
    return sum(counts.values())


def export_case(case: Case, metadata: Mapping[str, Any], folder: Path) -> None:
    """Write one case: model, values and metadata."""
    data = folder / "test_data_set_0"
    data.mkdir(parents=True)
    (folder / "model.onnx").write_bytes(case.data)
    (folder / "model.onnxtxt").write_text(case.model, encoding="utf-8")
    _write_json(folder / "case.json", metadata)
    graph = case.proto.graph
    _write_values(data, "input", graph.input, case.inputs)
    if case.expected is not None:
        names = [info.name for info in graph.output]
        _write_values(data, "output", graph.output, dict(zip(names, case.expected, strict=True)))
    if case.control is not None:
        (folder / "control").mkdir()
        _write_values(folder / "control", "input", graph.input, case.control)


def value_proto(value: Value, type: TypeProto, name: str) -> TensorProto | SequenceProto | OptionalProto:
    """A value as the message that its declared type calls for."""
    if type.HasField("optional_type"):
        return _optional_proto(value, type.optional_type.elem_type, name)
    if type.HasField("sequence_type"):
        return _sequence_proto(value, name)
    return numpy_helper.from_array(value, name)


def _optional_proto(value: Value, element: TypeProto, name: str) -> OptionalProto:
    proto = OptionalProto(name=name, elem_type=OptionalProto.UNDEFINED)
    if value is None:
        return proto
    match value_proto(value, element, ""):
        case TensorProto() as tensor:
            proto.elem_type = OptionalProto.TENSOR
            proto.tensor_value.CopyFrom(tensor)
        case SequenceProto() as sequence:
            proto.elem_type = OptionalProto.SEQUENCE
            proto.sequence_value.CopyFrom(sequence)
        case _:
            pass
    return proto


def _sequence_proto(value: Sequence[Value], name: str) -> SequenceProto:
    proto = SequenceProto(name=name, elem_type=SequenceProto.TENSOR)
    proto.tensor_values.extend(numpy_helper.from_array(item) for item in value)
    return proto


def _kind(case: Case) -> str:
    if case.error:
        return "errors"
    if case.check is not None:
        return "checks"
    return "open" if case.ambiguous else "decided"


def _metadata(theme: str, row: Mapping[str, Any]) -> dict[str, Any]:
    clauses = [{"of": CLAUSES[name].source, "says": CLAUSES[name].text} for name in row.get("decided_by", ())]
    return {"theme": theme, **row, "model": "model.onnx", "clauses": clauses}


def _write_values(folder: Path, prefix: str, infos: Iterable[ValueInfoProto], values: Mapping[str, Value]) -> None:
    for k, info in enumerate(infos):
        if info.name in values:
            proto = value_proto(values[info.name], info.type, info.name)
            (folder / f"{prefix}_{k}.pb").write_bytes(proto.SerializeToString())


def _write_json(path: Path, document: object) -> None:
    path.write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
