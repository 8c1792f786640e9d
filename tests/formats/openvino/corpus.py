"""The OpenVINO models of the corpus: where they lie, what they were run with, and what is known of them."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
CORPUS = Path(os.environ.get("WHORL_CORPUS") or HERE.parents[3] / "shared" / "corpus") / "openvino"
KINDS = ("ovcpu", "ort")


@dataclass(frozen=True)
class Run:
    """One stored run of a model: inputs by name or by position, and outputs by who gave them."""

    inputs: dict[str, np.ndarray]
    outputs: dict[str, list[np.ndarray]]

    def feeds(self, names: list[str]) -> dict[str, np.ndarray]:
        """The inputs by the names of a model."""
        return {key if key in names else names[int(key)]: x for key, x in self.inputs.items()}


@cache
def models() -> tuple[str, ...]:
    """`probes/M05_swap`, for every model; nothing where the corpus is missing."""
    return tuple(sorted(str(path.relative_to(CORPUS).with_suffix("")) for path in CORPUS.glob("*/*.xml")))


def path_of(model: str) -> Path:
    return CORPUS / f"{model}.xml"


@cache
def runs(model: str) -> tuple[Run, ...]:
    """The stored runs of a model."""
    path = CORPUS / f"{model}.npz"
    if not path.exists():
        return ()
    found: dict[str, Run] = {}
    with np.load(path) as stored:
        for key in stored.files:
            number, kind, name = key.split("/", 2)
            run = found.setdefault(number, Run({}, {}))
            if kind == "in":
                run.inputs[name] = stored[key]
            else:
                run.outputs.setdefault(kind, []).append(stored[key])
    return tuple(found.values())


@cache
def known_differences() -> dict[str, str]:
    """What whorl does with models that it does not run as OpenVINO's CPU plugin does."""
    lines = (HERE / "known_differences.txt").read_text().splitlines()
    rows = [line.split(" | ") for line in lines if line and not line.startswith("#")]
    return {name: does for name, does, _ in rows}


def same(found: list[np.ndarray], expected: list[np.ndarray], rtol: float = 1e-5, atol: float = 1e-6) -> bool:
    """Whether two lists of outputs have equal shapes and elements. Element types are OpenVINO's business."""
    if len(found) != len(expected) or any(f.shape != e.shape for f, e in zip(found, expected, strict=True)):
        return False
    pairs = ((f.astype(np.float64), e.astype(np.float64)) for f, e in zip(found, expected, strict=True))
    return all(np.allclose(f, e, rtol, atol, equal_nan=True) for f, e in pairs)
