"""The models of onnx.backend.test, written by whorl as IR and run by OpenVINO: what becomes of each."""

import json
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import ModelProto, numpy_helper
from onnx.backend.test.loader import load_model_tests

from whorl.conformance.messages import Question
from whorl.conformance.runner import Bench

KINDS = "node", "simple", "pytorch-converted", "pytorch-operator"
ENGINE = "formats.openvino.through_ir:load"
DIRECT = "formats.openvino.through_ir:load_onnx"


@dataclass(frozen=True)
class Outcome:
    """What became of a model: "agrees", "unwritten", "refused", "differs", "crash" or "timeout", and why."""

    name: str
    ops: tuple[str, ...]
    status: str
    reason: str = ""


def models() -> list[Any]:
    """The cases of the suite that need no download."""
    with np.errstate(all="ignore"):
        return [case for kind in KINDS for case in load_model_tests(kind=kind)]


def question_of(case: Any) -> tuple[ModelProto, list[tuple[dict, list]]]:
    """The model of a case, and its data: inputs by name, and expected outputs."""
    model = case.model or onnx.load(Path(case.model_dir) / "model.onnx")
    names = [value.name for value in model.graph.input]
    passed = case.data_sets or list(_stored(Path(case.model_dir), model))
    return model, [
        (dict(zip(names, map(_array, inputs), strict=False)), list(map(_array, outputs))) for inputs, outputs in passed
    ]


def _array(value: Any) -> Any:
    if isinstance(value, onnx.TensorProto):
        return numpy_helper.to_array(value)
    return np.asarray(value) if isinstance(value, np.generic) else value


def _stored(folder: Path, model: ModelProto) -> Iterator[tuple[list, list]]:
    for data in sorted(folder.glob("test_data_set_*")):
        inputs = [
            _read(data / f"input_{k}.pb", v.type)
            for k, v in enumerate(model.graph.input)
            if (data / f"input_{k}.pb").exists()
        ]
        yield inputs, [_read(data / f"output_{k}.pb", v.type) for k, v in enumerate(model.graph.output)]


def _read(path: Path, type: onnx.TypeProto) -> Any:
    match type.WhichOneof("value"):
        case "sequence_type":
            return numpy_helper.to_list(onnx.SequenceProto.FromString(path.read_bytes()))
        case "optional_type":
            return numpy_helper.to_optional(onnx.OptionalProto.FromString(path.read_bytes()))
    return numpy_helper.to_array(onnx.TensorProto.FromString(path.read_bytes()))


def outcome(case: Any, bench: Bench) -> Outcome:
    """Run a case on an engine and compare its outputs as the suite does."""
    model, data = question_of(case)
    ops = tuple(sorted({node.op_type for node in model.graph.node}))
    for inputs, expected in data:
        answer = bench.ask(Question(model.SerializeToString(), inputs))
        if answer.status != "ran":
            unwritten = answer.message.startswith(("SaveError", "UnsupportedError", "LoadError", "NotImplementedError"))
            status = answer.status if answer.status in ("crash", "timeout") else "unwritten" if unwritten else "refused"
            return Outcome(case.name, ops, status, answer.message.strip()[:600])
        if problem := difference(expected, answer.runs[0], case.rtol, case.atol):
            return Outcome(case.name, ops, "differs", problem)
    return Outcome(case.name, ops, "agrees")


def difference(expected: Sequence[Any], actual: Sequence[Any], rtol: float, atol: float) -> str:
    if len(expected) != len(actual):
        return f"{len(actual)} outputs, expected {len(expected)}"
    for index, (want, value) in enumerate(zip(expected, actual, strict=True)):
        if not isinstance(want, np.ndarray):
            return f"output {index} is no tensor"
        if want.dtype != value.dtype or want.shape != value.shape:
            return f"output {index} is {value.dtype}{list(value.shape)}, expected {want.dtype}{list(want.shape)}"
        if want.dtype == object:
            same = want.tolist() == value.tolist()
        else:
            wide = np.complex128 if want.dtype.kind == "c" else np.float64
            with np.errstate(all="ignore"):
                same = np.allclose(value.astype(wide), want.astype(wide), rtol, atol, equal_nan=True)
        if not same:
            return f"output {index} has other elements"
    return ""


def measure(cases: Sequence[Any], engine: str = ENGINE, workers: int = 1, timeout: float = 60.0) -> list[Outcome]:
    """What becomes of cases, each worker taking every n-th."""

    def serve(first: int) -> list[Outcome]:
        with Bench(engine, timeout) as bench:
            return [outcome(case, bench) for case in cases[first::workers]]

    with ThreadPoolExecutor(workers) as pool:
        actual = {each.name: each for part in pool.map(serve, range(workers)) for each in part}
    return [actual[case.name] for case in cases]


def main(output: str, engine: str = ENGINE, step: int = 1, workers: int = 1, only: str = "") -> None:
    start = time.time()
    cases = [case for case in models() if only in case.name][::step]
    actual = measure(cases, engine, workers)
    Path(output).write_text(json.dumps([asdict(each) for each in actual], indent=0))
    print(Counter(each.status for each in actual), round(time.time() - start), "s")


if __name__ == "__main__":
    main(*sys.argv[1:3], *map(int, sys.argv[3:5]), *sys.argv[5:])
