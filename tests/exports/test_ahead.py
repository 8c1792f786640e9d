"""Exported models compiled ahead of time: a library takes the lengths of each run, and gives the same results."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import whorl
from exports.harness import compare, require_all

require_all()

from exports import sklearn_estimators, sklearn_models, torch_export, torch_loops, torch_networks  # noqa: E402

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
    *(("euler_steps", "script"), ("beam_search", "script"), ("while_over_tensor", "script")),
)


def check(export, path: Path) -> None:
    options = whorl.SessionOptions()
    options.backend = "interpreter"
    oracle = whorl.InferenceSession(export.model, options)
    whorl.compile(export.model, path)
    library = whorl.load_compiled(path)
    for draw in range(2):
        for shape in export.shapes:
            feeds = export.draw(shape, np.random.default_rng(draw))
            expected = oracle.run(None, feeds)
            compare(expected, library.run(None, feeds), export.amplification, f"shape {shape}, run {draw + 1}")


@pytest.mark.parametrize("name", ESTIMATORS)
def test_estimator_takes_any_batch(name, tmp_path):
    check(sklearn_models.export_of(sklearn_estimators.CASES[name]), tmp_path / "model.so")


@pytest.mark.parametrize(("name", "exporter"), FUNCTIONS)
def test_function_takes_any_lengths(name, exporter, tmp_path):
    cases = torch_loops.TABLE.cases | torch_networks.TABLE.cases
    check(torch_export.export_of(cases[name], exporter), tmp_path / "model.so")
