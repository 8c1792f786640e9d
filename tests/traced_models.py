"""Sixteen models with loops and branches of every kind, and what they are run on."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from onnx_text import model

import whorl
from whorl.api.models import load_module
from whorl.conformance.cases import load_cases
from whorl.ir.graph import Module

NESTED = model("""main (int64 n, float[3] x) => (float[3] y, float[g] z) {
    c = Constant<value = bool {1}> ()
    [outer] y, z = Loop (n, c, x, x) <body = a (int64 i, bool k, float[3] s, float[m] grown)
        => (bool h, float[3] t, float[q] longer) {
        h = Identity(k)
        longer = Concat<axis = 0>(grown, s)
        [inner] t = Loop (i, , s) <body = b (int64 j, bool p, float[3] u) => (bool q, float[3] v) {
            q = Identity(p)
            one = Constant<value = int64 {1}> ()
            is_late = Greater(j, one)
            [choice] v = If (is_late) <
                then_branch = t () => (float[3] w) { w = Neg(u) },
                else_branch = e () => (float[3] r) { d = Add(u, u) r = Mul(d, u) }>
        }>
    }>
}""")
"""Loops in each other with other trip counts each time, a value that grows, and branches."""
GRID = model("""main (float[2] x) => (float[2] y) {
    three = Constant<value = int64 {3}> ()
    c = Constant<value = bool {1}> ()
    [rows] y = Loop (three, c, x) <body = a (int64 i, bool k, float[2] s) => (bool h, float[2] t) {
        h = Identity(k)
        [columns] t = Loop (three, c, s) <body = b (int64 j, bool p, float[2] u) => (bool q, float[2] v) {
            q = Identity(p)
            f = Cast<to = 1>(j)
            v = Add(u, f)
        }>
    }>
}""")
"""Loops in each other with the same trip counts each time."""
X = np.array([1, 2, 0.5], np.float32)
CASES = (
    "while_over_strings",
    "rank_depends_on_iteration",
    "sequence_of_different_shapes",
    "scan_bidirectional",
    "program_collatz_27",
    "if_sequences_of_different_lengths_true",
    "program_words_to_lines",
    "loops_in_both_branches_with_different_results",
    "blank_first_carried",
    "sequence_of_strings",
)
"""Cases of the conformance suite: strings, sequences, loops in branches, early exits, outputs that are left out."""
NEURON = Path(__file__).parents[1] / "examples" / "fitzhugh_nagumo.json"


def traced_models(folder: Path) -> dict[str, tuple[Module, Mapping[str, Any]]]:
    """Each model with its inputs."""
    whorl.save(GRID, folder / "grid.xml")
    models: dict[str, tuple[Module, Mapping[str, Any]]] = {
        "nested": (whorl.load(NESTED), {"n": np.array(4), "x": X}),
        "no iteration": (whorl.load(NESTED), {"n": np.array(0), "x": X}),
        "one iteration": (whorl.load(NESTED), {"n": np.array(1), "x": X}),
        "grid": (whorl.load(GRID), {"x": X[:2]}),
        "OpenVINO IR": (load_module(str(folder / "grid.xml")), {"x": X[:2]}),
        "MDF": (load_module(str(NEURON)), {"steps": np.array(5), "dt": np.array(0.1)}),
    }
    cases = {case.name: case for case in load_cases()}
    for name in CASES:
        inputs = {k: v if isinstance(v, list) else np.asarray(v) for k, v in cases[name].inputs.items()}
        models[name] = load_module(cases[name].proto), inputs
    return models
