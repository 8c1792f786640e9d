"""Class losses against a plain loop over labels, and what the backend suite leaves out."""

import ml_dtypes
import numpy as np
import pytest
from evaluation import evaluate, floats, shaped, types, unranked
from onnx_text import model
from written_out import check_written_out, compiled

import whorl
from whorl.errors import RunError, TypeRuleError
from whorl.ir import dims
from whorl.ops.reduce.losses import NegativeLogLikelihoodLoss, SoftmaxCrossEntropyLoss
from whorl.runtime.session import Session

N, C = dims.name("N"), dims.name("C")
LABELS = np.array([[0, 2, -7], [1, -7, 2]])


def scores(dtype=np.float32):
    return np.random.default_rng(0).normal(size=(2, 4, 3)).astype(dtype)


def looped(log_probability, labels, weight, reduction):
    """The loss of each label in a loop; -7 is ignored."""
    loss, used = np.zeros(labels.shape), np.zeros(labels.shape)
    for n, d in np.ndindex(labels.shape):
        if labels[n, d] != -7:
            used[n, d] = 1 if weight is None else weight[labels[n, d]]
            loss[n, d] = -log_probability[n, labels[n, d], d] * used[n, d]
    return {"none": loss, "sum": loss.sum(), "mean": loss.sum() / used.sum()}[reduction]


@pytest.mark.parametrize("reduction", ["none", "sum", "mean"])
@pytest.mark.parametrize("weight", [None, floats(1, 2, 0.5, 0)])
@pytest.mark.parametrize("dtype", [np.float32, np.float16, ml_dtypes.bfloat16])
def test_loss_equals_the_loop(reduction, weight, dtype):
    x = scores(dtype)
    passed = None if weight is None else weight.astype(dtype)
    close = {"rtol": 1e-5} if dtype == np.float32 else {"rtol": 0.01}
    op = NegativeLogLikelihoodLoss(ignore_index=-7, reduction=reduction)
    result = evaluate(op, x, LABELS, passed)
    assert result.dtype == dtype
    np.testing.assert_allclose(
        result.astype(np.float64), looped(x.astype(np.float64), LABELS, weight, reduction), **close
    )
    wide = x.astype(np.float64)
    log_probability = wide - np.log(np.exp(wide).sum(1, keepdims=True))
    loss, second = evaluate(SoftmaxCrossEntropyLoss(ignore_index=-7, reduction=reduction), x, LABELS, passed)
    assert loss.dtype == second.dtype == dtype
    np.testing.assert_allclose(loss.astype(np.float64), looped(log_probability, LABELS, weight, reduction), **close)
    np.testing.assert_allclose(second.astype(np.float64), log_probability, **close)


def test_mean_over_nothing_is_nan_and_sum_is_0():
    x, labels = np.zeros((2, 3), np.float32), np.array([9, 9])
    assert np.isnan(evaluate(NegativeLogLikelihoodLoss(ignore_index=9), x, labels))
    assert evaluate(NegativeLogLikelihoodLoss(ignore_index=9, reduction="sum"), x, labels) == 0
    assert np.isnan(evaluate(NegativeLogLikelihoodLoss(), np.zeros((0, 3), np.float32), np.zeros(0, np.int64)))


def test_ignored_labels_do_not_see_nan():
    x = floats([np.nan, np.nan], [-1, -2])
    assert evaluate(NegativeLogLikelihoodLoss(ignore_index=0), x, np.array([0, 1], np.int32)) == 2


@pytest.mark.parametrize("label", [4, -1])
def test_label_that_is_no_class_is_refused(label):
    with pytest.raises(RunError) as caught:
        evaluate(NegativeLogLikelihoodLoss(), np.zeros((1, 4), np.float32), np.array([label]))
    assert str(caught.value) == f"label {label} is outside [0, 4)"


def test_no_classes_leave_only_ignored_labels():
    x, labels = np.zeros((2, 0), np.float32), np.array([5, 5])
    assert evaluate(NegativeLogLikelihoodLoss(ignore_index=5, reduction="none"), x, labels).tolist() == [0, 0]


@pytest.mark.parametrize(
    ("op", "facts", "expected"),
    [
        (NegativeLogLikelihoodLoss(), (shaped(N, C), shaped(N, dtype=np.int64)), "float32[]"),
        (NegativeLogLikelihoodLoss(reduction="none"), (shaped(N, C, 2), unranked(np.int32)), "float32[N, 2]"),
        (NegativeLogLikelihoodLoss(reduction="none"), (unranked(), shaped(N, 2, dtype=np.int32)), "float32[N, 2]"),
        (SoftmaxCrossEntropyLoss(), (shaped(N, C), shaped(3, dtype=np.int64)), "float32[], float32[N, C]"),
        (SoftmaxCrossEntropyLoss(reduction="none"), (unranked(), unranked(np.int64)), "float32[*], float32[*]"),
    ],
)
def test_shape(op, facts, expected):
    assert types(op, *facts) == expected


@pytest.mark.parametrize(
    ("op", "facts", "message"),
    [
        (
            NegativeLogLikelihoodLoss(),
            (shaped(2, 3, 4), shaped(2, dtype=np.int64)),
            "labels have shape [2], expected [2, 4] for scores [2, 3, 4]",
        ),
        (
            NegativeLogLikelihoodLoss(),
            (shaped(2, 3), shaped(5, dtype=np.int64)),
            "an axis of labels [5] and scores [2, 3] is both 5 and 2",
        ),
        (
            NegativeLogLikelihoodLoss(),
            (shaped(2, 3), shaped(2, dtype=np.int64), shaped(2)),
            "the number of classes is both 3 and 2",
        ),
        (
            SoftmaxCrossEntropyLoss(),
            (shaped(2), shaped(2, dtype=np.int64)),
            "scores have shape [2], expected rank 2 or more: [N, C, ...]",
        ),
        (SoftmaxCrossEntropyLoss(), (shaped(2, 3), shaped(2)), "does not accept float32"),
        (
            SoftmaxCrossEntropyLoss(reduction="max"),
            (shaped(2, 3), shaped(2, dtype=np.int64)),
            'reduction is \'max\'\n  fix: choose "none", "sum" or "mean"',
        ),
    ],
)
def test_wrong_inputs_are_refused(op, facts, message):
    with pytest.raises(TypeRuleError) as caught:
        types(op, *facts)
    assert str(caught.value) == message


@pytest.mark.parametrize("op", [NegativeLogLikelihoodLoss, SoftmaxCrossEntropyLoss])
@pytest.mark.parametrize("reduction", ["none", "sum", "mean"])
@pytest.mark.parametrize("ignored", [None, -7])
@pytest.mark.parametrize("weight", [None, floats(1, 2, 0.5, 0)])
def test_loss_is_written_out(op, reduction, ignored, weight):
    labels = np.where(LABELS == -7, 3, LABELS) if ignored is None else LABELS
    loss = op(ignore_index=ignored, reduction=reduction)
    check_written_out(loss, [scores(), labels, weight], 1 + (op is SoftmaxCrossEntropyLoss), 1e-5)


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16, np.float64])
def test_loss_of_other_floats_is_written_out(dtype):
    check_written_out(SoftmaxCrossEntropyLoss(ignore_index=-7), [scores(dtype), LABELS], 2, 0.02)


@pytest.mark.parametrize("label", [-1, 4])
def test_native_loss_fails_for_a_label_of_no_class(label):
    assert compiled(NegativeLogLikelihoodLoss(), [scores(), np.full((2, 3), label)]) is None


def test_native_loss_fails_where_labels_are_fewer_than_rows():
    module = whorl.load(
        model(
            'main (float[n, 3] x, int64[m] l) => (float[n] y) { y = SoftmaxCrossEntropyLoss<reduction = "none">(x, l) }'
        )
    )
    made = Session(module, backend="native")
    for rows in (4, 1):
        x, labels = scores()[:1, 0].repeat(rows, 0), np.ones(rows, np.int64)
        expected = SoftmaxCrossEntropyLoss(reduction="none").run(x, labels)[0]
        np.testing.assert_allclose(made.execute(None, {"x": x, "l": labels})[0], expected, rtol=1e-6)
    with pytest.raises(RunError, match="an axis of labels"):
        made.execute(None, {"x": scores()[:2, 0], "l": np.ones(1, np.int64)})
