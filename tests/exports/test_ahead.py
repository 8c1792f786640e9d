"""Exported models compiled ahead of time: a library takes the lengths of each run, in Python and in C."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from codegen.library.c_program import CProgram

import whorl
from exports.harness import compare, require_all

require_all()

from exports import sklearn_estimators, sklearn_models, torch_export, torch_images, torch_loops, torch_networks  # noqa: E402

pytestmark = pytest.mark.slow
ESTIMATORS = (
    *("k_neighbors_classifier", "k_neighbors_regressor", "k_neighbors_classifier_by_distance"),
    *("svc_rbf", "svc_two_classes", "random_forest_classifier", "random_forest_regressor"),
    *("gaussian_process_rbf", "gradient_boosting_classifier", "voting_classifier"),
)
FUNCTIONS = (
    *(("list_append_and_stack", "script"), ("list_append_and_concatenate", "script"), ("list_of_columns", "script")),
    *(("split_in_loop", "script"), ("last_parts_first", "script"), ("growing_in_loop", "script")),
    *(("decoder_with_cache", "trace"), ("attention_with_cache", "script"), ("mamba_block", "script")),
    *(("lstm", "trace"), ("lstm_bidirectional", "trace"), ("viterbi", "script"), ("if_by_shape", "script")),
    *(("inverted_residual", "trace"), ("depthwise_branches", "trace"), ("dense_layers", "trace")),
    *(("euler_steps", "script"), ("beam_search", "script"), ("while_over_tensor", "script")),
)


def check(export, folder: Path) -> None:
    options = whorl.SessionOptions()
    options.backend = "interpreter"
    oracle, program = whorl.InferenceSession(export.model, options), CProgram(export.model, folder)
    runs = [(shape, draw) for draw in range(2) for shape in export.shapes]
    feeds = [export.draw(shape, np.random.default_rng(draw)) for shape, draw in runs]
    for run, each, outputs in zip(runs, feeds, program.run(feeds), strict=True):
        expected, where = oracle.run(None, each), f"shape {run[0]}, run {run[1] + 1}"
        assert not isinstance(outputs, str), f"{where}: {outputs}"
        compare(expected, outputs, export.amplification, f"in C, {where}")
        compare(expected, program.library.run(None, each), export.amplification, where)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_estimator_takes_any_batch(name, tmp_path):
    check(sklearn_models.export_of(sklearn_estimators.CASES[name]), tmp_path)


@pytest.mark.parametrize(("name", "exporter"), FUNCTIONS)
def test_function_takes_any_lengths(name, exporter, tmp_path):
    cases = torch_images.TABLE.cases | torch_loops.TABLE.cases | torch_networks.TABLE.cases
    check(torch_export.export_of(cases[name], exporter), tmp_path)
