"""Small valid files to damage: of each format, the project's own programs and what its writers make of ONNX models."""

from __future__ import annotations

import json
import tempfile
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from conftest import corpus_folder
from formats.mdf.test_files import FULL
from formats.openvino import ir_text
from formats.openvino.reading.test_states import PAIR, WEIGHTS, body_with_state, running_sum
from mdf.test_bodies import drifting, exported, graph
from onnx.backend.test.loader import load_model_tests

import whorl
from whorl.conformance.cases import load_cases
from whorl.formats.mlir.parser import split_text
from whorl.formats.mlir.saving import print_mlir

TESTS = Path(__file__).parents[1]
LARGEST = 3000
"""Bytes of a model that is worth to be damaged: a change in a large one rarely meets what matters."""


def onnx_seeds(every: int = 1) -> list[bytes]:
    """The conformance suite and the backend suite of the onnx package, each `every`-th model."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        backend = [case.model.SerializeToString() for case in load_model_tests(kind="node")] if every == 1 else []
    return [data for data in (*(case.data for case in load_cases()), *backend) if len(data) <= LARGEST][::every]


def ir_seeds(models: Sequence[bytes]) -> list[tuple[bytes, bytes]]:
    """IR files with their weights: our own, and models as they are written."""
    own = [
        (ir_text.ADD, b""),
        (ir_text.counting(1), ir_text.COUNTING_WEIGHTS),
        (running_sum("20:0-1:0", PAIR), WEIGHTS),
        (body_with_state("0:0-1:0"), WEIGHTS),
    ]
    return own + list(_written(models, _as_ir))


def mlir_seeds(models: Sequence[bytes]) -> list[str]:
    """Functions of the tests, and models as they are written."""
    cases = sorted((TESTS / "formats" / "mlir" / "cases").glob("*.mlir"))
    own = [piece for path in cases for _, piece in split_text(path.read_text(encoding="utf-8"))]
    return own + list(_written(models, lambda model, folder: print_mlir(model)))


def mdf_seeds(models: Sequence[bytes]) -> list[tuple[Any, bytes]]:
    """Documents with their `.npz`: those of the tests, of the corpus where there is one, and models as written."""
    folder = corpus_folder()
    files = sorted(folder.glob("mdf/*/*.json")) if folder is not None else []
    small = [path for path in files if path.stat().st_size <= 2 * LARGEST]
    passed = [(json.loads(path.read_text(encoding="utf-8")), _beside(path, ".npz")) for path in small]
    own = [(document, b"") for document in (FULL, drifting(), exported(graph({})))]
    return own + passed + list(_written(models, _as_mdf))


def _written(models: Sequence[bytes], write: Callable[[Any, Path], Any]) -> Iterator[Any]:
    """The models that a format can say."""
    with tempfile.TemporaryDirectory() as folder:
        for data in models:
            try:
                yield write(whorl.load(data), Path(folder))
            except whorl.WhorlError:
                continue


def _as_ir(model: Any, folder: Path) -> tuple[bytes, bytes]:
    path = folder / "model.xml"
    whorl.save(model, path)
    return path.read_bytes(), _beside(path, ".bin")


def _as_mdf(model: Any, folder: Path) -> tuple[Any, bytes]:
    path = folder / "model.json"
    whorl.save(model, path)
    return json.loads(path.read_text(encoding="utf-8")), b""


def _beside(path: Path, suffix: str) -> bytes:
    other = path.with_suffix(suffix)
    return other.read_bytes() if other.exists() else b""
