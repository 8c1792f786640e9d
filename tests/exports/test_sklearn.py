"""Estimators of scikit-learn, exported by skl2onnx, give what scikit-learn gives."""

import dataclasses

import pytest

from exports.harness import check, require, run_by_onnxruntime
from whorl.errors import UnsupportedError

require("sklearn", "skl2onnx")

from exports.sklearn_estimators import CASES, DIFFERENT, REFUSED, UNSUPPORTED  # noqa: E402
from exports.sklearn_models import export_of  # noqa: E402

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("name", sorted(CASES.keys() - REFUSED.keys() - DIFFERENT.keys() - UNSUPPORTED.keys()))
def test_estimator(name):
    check(export_of(CASES[name]))


@pytest.mark.parametrize("name", DIFFERENT)
def test_estimator_that_the_exporter_changes_means_what_the_model_says(name):
    export = export_of(CASES[name])
    check(dataclasses.replace(export, expect=run_by_onnxruntime(export.model)))


@pytest.mark.parametrize("name", REFUSED)
def test_estimator_is_refused_by_the_exporter(name):
    with pytest.raises(Exception, match=REFUSED[name]):
        export_of(CASES[name])


@pytest.mark.parametrize("name", UNSUPPORTED)
def test_estimator_of_unknown_ops_is_refused(name):
    with pytest.raises(UnsupportedError, match=UNSUPPORTED[name]):
        check(export_of(CASES[name]))
