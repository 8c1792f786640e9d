"""`bisect` names the iteration and the node of planted faults."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
import pytest
from planting import plant
from traced_models import NESTED, X, traced_models

import whorl
from whorl.api.tracing.bisecting import Side, bisect, isolate_first
from whorl.api.tracing.differing import DEFAULTS
from whorl.api.tracing.recording import run_once
from whorl.ir.graph import Module

FAULTS = [
    ("nested", "outer/t", [0]),
    ("nested", "outer/t", [2]),
    ("nested", "outer/longer", [0]),
    ("nested", "outer/longer", [3]),
    ("nested", "outer/inner/is_late", [3, 0]),
    ("nested", "outer/inner/v", [1, 0]),
    ("nested", "outer/inner/v", [3, 2]),
    ("nested", "outer/inner/choice/then_branch/w", [3, 2]),
    ("nested", "outer/inner/choice/else_branch/d", [2, 1]),
    ("nested", "outer/inner/choice/else_branch/r", [3, 0]),
    ("grid", "rows/t", [1]),
    ("grid", "rows/columns/f", [0, 2]),
    ("grid", "rows/columns/f", [2, 2]),
    ("grid", "rows/columns/v", [1, 1]),
    ("OpenVINO IR", "rows/columns/v", [2, 0]),
    ("MDF", "time/Mul#2", [0]),
    ("MDF", "time/Sub", [4]),
    ("rank_depends_on_iteration", "y/next/then_branch/m", [3]),
    ("program_collatz_27", "last/s1", [80]),
    ("program_collatz_27", "last/on", [110]),
    ("program_collatz_27", "last/w", [50]),
    ("grid", "rows/columns/v", [0, 0]),
]


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Module, Mapping[str, Any]]]:
    return traced_models(tmp_path_factory.mktemp("planted"))


def side(module: Module) -> Side:
    return Side(module, partial(run_once, mode="interpreter"))


@pytest.mark.parametrize(("name", "path", "at"), FAULTS)
def test_planted_fault_is_located(models: dict[str, Any], name: str, path: str, at: list[int]) -> None:
    module, inputs = models[name]
    wrong, title = plant(module, path, at)
    first = bisect(side(module), side(wrong), inputs, DEFAULTS)
    assert first is not None
    assert (first.value, first.node, [number for _, number in first.loops]) == (path, title, at)


def test_search_says_where_it_is(models: dict[str, Any]) -> None:
    module, inputs = models["nested"]
    wrong, _ = plant(module, "outer/inner/choice/else_branch/r", [2, 1])
    steps: list[str] = []
    bisect(side(module), side(wrong), inputs, DEFAULTS, steps.append)
    assert steps == [
        "searching the main graph",
        "searching the iterations of outer",
        "searching outer, iteration 2",
        "searching the iterations of outer/inner",
        "searching outer/inner, iteration 2, iteration 1",
        "searching outer/inner/choice/else_branch, iteration 2, iteration 1",
    ]


def test_equal_models_have_no_first_difference(models: dict[str, Any]) -> None:
    for name in ("nested", "no iteration", "sequence_of_different_shapes"):
        module, inputs = models[name]
        assert bisect(side(module), side(module), inputs, DEFAULTS) is None


def test_operands_and_the_node_as_a_model_are_there(models: dict[str, Any]) -> None:
    module, inputs = models["nested"]
    wrong, _ = plant(module, "outer/inner/choice/else_branch/r", [2, 1])
    first = bisect(side(module), side(wrong), inputs, DEFAULTS)
    assert first is not None and first.difference is not None
    assert [(each.name, each.ours.tolist(), each.theirs.tolist()) for each in first.operands] == [
        ("d", [16, 256, 1], [16, 256, 1]),
        ("u", [8, 128, 0.5], [8, 128, 0.5]),
    ]
    assert first.difference.text == "2 of 3 elements differ, first at [0]: 128.0 here, 129.0 there"
    assert (first.difference.max_abs, first.difference.ulp) == (1.0, 12582912)
    piece = isolate_first(side(module), first, inputs)
    assert piece is not None and list(piece.outputs) == ["r"]
    outputs = whorl.InferenceSession(piece.module).run(None, piece.inputs)
    np.testing.assert_array_equal(outputs[0], piece.outputs["r"])


def test_other_side_that_fails_is_located(models: dict[str, Any]) -> None:
    module, inputs = models["grid"]

    def run(edited: Module, feeds: Mapping[str, Any]) -> list[Any]:
        return run_once(edited, feeds, whorl.Limits(max_iterations=2), "interpreter")

    first = bisect(side(module), Side(module, run), inputs, DEFAULTS)
    assert first is not None
    assert (first.node, first.loops) == ("Loop 'rows'", [("rows", 0)])
    assert first.note.splitlines()[0].startswith("the other side fails: ")


def test_result_of_a_branch_that_is_equal_inside_is_of_the_branching_node(models: dict[str, Any]) -> None:
    module, inputs = models["nested"]
    wrong, _ = plant(module, "outer/inner/v", [3, 2])
    first = bisect(side(module), side(wrong), inputs, DEFAULTS)
    assert first is not None and first.note == "what then_branch computes is equal"


def test_loops_of_other_lengths_are_reported() -> None:
    feeds = {"n": np.array(3), "x": X}
    ours, theirs = whorl.load(NESTED), whorl.load(NESTED)

    def run(edited: Module, inputs: Mapping[str, Any]) -> list[Any]:
        return run_once(edited, {**inputs, "n": np.array(2)}, mode="interpreter")

    first = bisect(side(ours), Side(theirs, run), feeds, DEFAULTS)
    assert first is not None
    assert (first.node, first.loops) == ("Loop 'outer'", [("outer", 2)])
    assert first.note == "the loop makes 3 iterations here, 2 there, and all that both make are equal"


def test_side_that_fails_before_its_loop_runs_is_located(models: dict[str, Any]) -> None:
    module, inputs = models["grid"]

    def run(edited: Module, feeds: Mapping[str, Any]) -> list[Any]:
        raise whorl.RunError("there is no such engine")

    first = bisect(side(module), Side(module, run), inputs, DEFAULTS)
    assert first is not None
    assert (first.node, first.loops) == (module.main.nodes[0].title, [])
    assert first.note == "the other side fails: there is no such engine"


def test_side_that_refuses_values_as_outputs_is_compared_by_the_outputs_alone(models: dict[str, Any]) -> None:
    module, inputs = models["nested"]
    wrong, _ = plant(module, "outer/longer", [2])

    def run(edited: Module, feeds: Mapping[str, Any]) -> list[Any]:
        if len(edited.output_names) > len(module.output_names):
            raise whorl.RunError("too many outputs")
        return run_once(edited, feeds, mode="interpreter")

    first = bisect(side(module), Side(wrong, run), inputs, DEFAULTS)
    assert first is not None
    assert (first.output, first.node, first.loops) == ("z", "Loop 'outer'", [])
    assert first.note == "values inside cannot be outputs there: too many outputs"
    assert bisect(side(module), Side(module, run), inputs, DEFAULTS) is None
