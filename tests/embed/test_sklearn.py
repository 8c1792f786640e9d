"""Estimators of scikit-learn whose exports have loops: embedded, onnxruntime gives what it gave without.

Where `WHORL_REQUIRE_EXPORTS=1`, all of them are tried, otherwise one of each kind.
"""

import numpy as np
import pytest

pytest.importorskip("skl2onnx", reason="skl2onnx is not installed")

from exports.harness import ALL, compare
from exports.sklearn_estimators import CASES
from exports.sklearn_models import export_of

from embed.running import embedded_session, plain_session

pytestmark = pytest.mark.slow
SHORT = ("k_neighbors_classifier", "radius_neighbors_regressor", "gaussian_process_rbf", "imputed_neighbours")
OTHERS = (
    *("k_neighbors_classifier_by_distance", "k_neighbors_classifier_manhattan", "k_neighbors_regressor"),
    *("k_neighbors_regressor_by_distance", "k_neighbors_regressor_double", "radius_neighbors_classifier"),
    *("nearest_neighbors", "k_neighbors_transformer", "local_outlier_factor", "gaussian_process_matern_half"),
    *("gaussian_process_matern_3_2", "gaussian_process_rational_quadratic", "gaussian_process_periodic"),
    *("gaussian_process_sum", "gaussian_process_deviation", "kernel_pca"),
)


@pytest.mark.parametrize("name", SHORT + OTHERS if ALL else SHORT)
def test_estimator_with_a_loop_gives_what_it_gave(tmp_path, name):
    export = export_of(CASES[name])
    model = export.model.SerializeToString()
    plain, (session, made) = plain_session(model), embedded_session(model, tmp_path)
    assert made.library and not [region for region in made.regions if region.reason]
    for position, shape in enumerate(export.shapes):
        feeds = export.draw(shape, np.random.default_rng(position))
        compare(plain.run(None, feeds), session.run(None, feeds), export.amplification, f"shape {shape}")
