"""The OpenVINO models of the corpus: where they lie, what they were run with, and what is known of them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

HERE = Path(__file__).parent
CORPUS = Path(os.environ.get("WHORL_CORPUS") or HERE.parents[3] / "shared" / "corpus") / "openvino"
REFUSED_EVERYWHERE = {
    "from_onnx/loop_cond_omitted_nontrivial": "OV404",
    "probes/I07_cond_rank2": "OV319",
    "probes/I08_type_mismatch": "OV322",
    "probes/I13_missing_else_output": "OV321",
    "probes/L11_part1_stride2": "OV311",
    "probes/M06c_iter_f32": "OV318",
    "probes/M13_internal_id_not_param": "OV305",
    "probes/M20b_trip_2elem": "OV318",
    "probes/M20c_cond_rank2": "OV319",
    "probes/M20e_trip_f32": "OV318",
    "probes/M20f_cond_i32": "OV319",
    "probes/M29_unused_loop_input": "OV310",
    "probes/N_TI_TI": "OV320",
    "probes/T05_start0_end3": "OV311",
    "probes/T08_end6_eq_dim": "OV311",
    "probes/T11_part2_stride1": "OV311",
    "probes/T14_rev_default_startend": "OV311",
    "probes/T40_nested_TI": "OV320",
}
"""Models that OpenVINO refuses too, with the code that says why."""


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


def or_skipped(chosen: Sequence[str]) -> list[Any]:
    """Models as parameters of a test: one that is skipped where the corpus is missing."""
    reason = f"there is no corpus in {CORPUS}"
    return list(chosen) if models() else [pytest.param(None, marks=pytest.mark.skip(reason=reason))]


def path_of(model: str) -> Path:
    return CORPUS / f"{model}.xml"


@cache
def runs(model: str) -> tuple[Run, ...]:
    """The stored runs of a model."""
    path = CORPUS / f"{model}.npz"
    if not path.exists():
        return ()
    actual: dict[str, Run] = {}
    with np.load(path) as stored:
        for key in stored.files:
            number, kind, name = key.split("/", 2)
            run = actual.setdefault(number, Run({}, {}))
            if kind == "in":
                run.inputs[name] = stored[key]
            else:
                run.outputs.setdefault(kind, []).append(stored[key])
    return tuple(actual.values())


@cache
def known_differences() -> dict[str, str]:
    """What whorl does with models that it does not run as OpenVINO's CPU plugin does."""
    lines = (HERE / "known_differences.txt").read_text().splitlines()
    rows = [line.split(" | ") for line in lines if line and not line.startswith("#")]
    return {name: does for name, does, _ in rows}


@cache
def refused() -> dict[str, str]:
    """The models that do not load, with the code that says why."""
    differences = {model: does for model, does in known_differences().items() if does.startswith("OV")}
    return REFUSED_EVERYWHERE | differences


def readable() -> list[str]:
    """The models that load."""
    return [model for model in models() if model not in refused()]


def same(actual: list[np.ndarray], expected: list[np.ndarray], rtol: float = 1e-5, atol: float = 1e-6) -> bool:
    """Whether two lists of outputs have equal shapes and elements. Element types are OpenVINO's business."""
    if len(actual) != len(expected) or any(f.shape != e.shape for f, e in zip(actual, expected, strict=True)):
        return False
    pairs = ((f.astype(np.float64), e.astype(np.float64)) for f, e in zip(actual, expected, strict=True))
    return all(np.allclose(f, e, rtol, atol, equal_nan=True) for f, e in pairs)
