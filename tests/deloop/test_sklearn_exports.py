"""Estimators of scikit-learn, by skl2onnx, lose their loops with an open batch and give what scikit-learn gives."""

import pytest

pytest.importorskip("skl2onnx", reason="skl2onnx is not installed")

from exports.sklearn_estimators import CASES
from exports.sklearn_models import export_of

import whorl
from deloop.exported import check_without_loops

pytestmark = pytest.mark.slow
FREE = (
    "k_neighbors_classifier",
    "k_neighbors_classifier_manhattan",
    "radius_neighbors_classifier",
    "nearest_neighbors",
    "local_outlier_factor",
    "gaussian_process_periodic",
)


@pytest.mark.parametrize("name", FREE)
def test_estimator_has_no_loop(name):
    check_without_loops(export_of(CASES[name]))


def test_estimator_of_small_distances_has_no_loop_and_keeps_them():
    check_without_loops(export_of(CASES["gaussian_process_rbf"]), exact=True)


def test_imputer_whose_branches_compress_by_what_only_the_run_knows_says_so():
    with pytest.raises(whorl.DeloopError, match="Compress 'Opset-N32' may fail on values that") as caught:
        whorl.deloop(export_of(CASES["knn_imputer"]).model)
    assert str(caught.value).endswith("no option removes it: change the model, or choose a runtime with control flow")
