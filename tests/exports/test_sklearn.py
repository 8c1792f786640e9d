"""Estimators of scikit-learn, exported by skl2onnx, give what scikit-learn gives.

Where `WHORL_REQUIRE_EXPORTS=1`, all of them are tried, otherwise a few of each family.
"""

import dataclasses

import pytest

pytest.importorskip("skl2onnx", reason="skl2onnx is not installed")

from exports.harness import ALL, check, run_by_onnxruntime
from exports.sklearn_estimators import CASES, DIFFERENT, REFUSED, SHORT, UNSUPPORTED
from exports.sklearn_models import export_of
from whorl.errors import UnsupportedError

pytestmark = pytest.mark.slow
EQUAL = [name for name in CASES if name not in REFUSED and name not in DIFFERENT and name not in UNSUPPORTED]


@pytest.mark.parametrize("name", EQUAL if ALL else SHORT)
def test_estimator(name):
    check(export_of(CASES[name]))


@pytest.mark.parametrize("name", DIFFERENT if ALL else list(DIFFERENT)[:1])
def test_estimator_that_the_exporter_changes_means_what_the_model_says(name):
    export = export_of(CASES[name])
    check(dataclasses.replace(export, expect=run_by_onnxruntime(export.model)))


@pytest.mark.parametrize("name", REFUSED if ALL else list(REFUSED)[:1])
def test_estimator_is_refused_by_the_exporter(name):
    with pytest.raises(Exception, match=REFUSED[name]):
        export_of(CASES[name])


@pytest.mark.parametrize("name", UNSUPPORTED)
def test_estimator_of_unknown_ops_is_refused(name):
    with pytest.raises(UnsupportedError, match=UNSUPPORTED[name]):
        check(export_of(CASES[name]))
