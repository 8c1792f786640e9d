"""Logarithms of sums: no overflow on the way, NaN of negative sums, floats only."""

import numpy as np
import pytest
from evaluation import evaluate, floats, shaped, types

from whorl.errors import TypeRuleError
from whorl.ops.reduce.logarithmic_reductions import ReduceLogSum, ReduceLogSumExp

INF, NAN = np.inf, np.nan


def test_log_sum_exp_never_overflows_on_the_way():
    np.testing.assert_allclose(evaluate(ReduceLogSumExp(keepdims=0), floats(1000, 1000)), 1000 + np.log(2), rtol=1e-6)
    assert evaluate(ReduceLogSumExp(keepdims=0), floats(-INF, -INF)) == -INF
    assert evaluate(ReduceLogSumExp(keepdims=0), floats(INF, 0)) == INF
    assert np.isnan(evaluate(ReduceLogSumExp(keepdims=0), floats(NAN, INF)))


def test_log_sum_of_a_negative_sum_is_nan():
    assert np.isnan(evaluate(ReduceLogSum(keepdims=0), floats(-1)))


def test_logarithms_refuse_integers():
    with pytest.raises(TypeRuleError) as caught:
        types(ReduceLogSum(), shaped(2, dtype=np.int32))
    assert str(caught.value) == "does not accept int32"
