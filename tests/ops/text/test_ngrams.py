"""TfIdfVectorizer against onnxruntime, over random pools."""

import ml_oracle
import numpy as np
import pytest

from whorl.errors import TypeRuleError
from whorl.ir import dims
from whorl.ir.types import Known, TensorType
from whorl.ops.text.ngrams import TfIdfVectorizer


def random_case(seed, words):
    """Attributes with distinct 1-, 2- and 3-grams, and rows of tokens."""
    rng = np.random.default_rng(seed)
    grams = {size: {tuple(rng.integers(0, 4, size).tolist()) for _ in range(3)} for size in (1, 2, 3)}
    tokens = [token for size in grams for gram in sorted(grams[size]) for token in gram]
    sizes = [len(grams[size]) * size for size in grams]
    total = sum(len(actual) for actual in grams.values())
    lowest = int(rng.integers(1, 4))
    attributes = {
        "min_gram_length": lowest,
        "max_gram_length": int(rng.integers(lowest, 4)),
        "max_skip_count": int(rng.integers(0, 4)),
        "mode": ["TF", "IDF", "TFIDF"][seed % 3],
        "ngram_counts": [0, sizes[0], sizes[0] + sizes[1]],
        "ngram_indexes": rng.permutation(total).tolist(),
    }
    if words:
        attributes["pool_strings"] = [f"w{token}" for token in tokens]
    else:
        attributes["pool_int64s"] = tokens
    if seed % 2:
        attributes["weights"] = [float(np.float32(w)) for w in rng.random(total)]
    return attributes, rng.integers(0, 5, (3, 8))


@pytest.mark.parametrize("dtype", [np.int64, np.int32])
@pytest.mark.parametrize("seed", range(12))
def test_integers_equal_onnxruntime(seed, dtype):
    attributes, rows = random_case(seed, words=False)
    for x in (rows.astype(dtype), rows[0].astype(dtype), rows[:, :1].astype(dtype), rows[0, :0].astype(dtype)):
        ml_oracle.assert_same("TfIdfVectorizer", attributes, x)


@pytest.mark.parametrize("seed", range(12))
def test_strings_equal_onnxruntime(seed):
    attributes, rows = random_case(seed, words=True)
    ml_oracle.assert_same(
        "TfIdfVectorizer", attributes, ml_oracle.strings(*(f"w{t}" for t in rows.ravel())).reshape(3, 8)
    )


def bigrams(**changed):
    attributes = {
        "min_gram_length": 2,
        "max_gram_length": 2,
        "max_skip_count": 0,
        "mode": "TF",
        "ngram_counts": (0, 0),
        "ngram_indexes": (0, 1),
        "pool_int64s": (5, 6, 6, 5),
    }
    return TfIdfVectorizer(**(attributes | changed))


def test_skips_are_even_and_single_locations_are_too_short():
    y = ml_oracle.result(bigrams(max_skip_count=1), np.array([5, 5, 6, 6]))
    np.testing.assert_array_equal(y, [3, 0])


def test_two_ngrams_in_one_column_add_up():
    op = bigrams(ngram_indexes=(1, 1), mode="TFIDF", weights=(10.0, 100.0))
    np.testing.assert_array_equal(ml_oracle.result(op, np.array([5, 6, 5, 6])), [0, 120])


def test_infer_follows_the_rows():
    x = Known(TensorType(np.dtype(np.int64), (dims.name("N"), 4)))
    assert str(bigrams().infer(x)) == "float32[N, 2]"


def test_pool_that_does_not_fit_is_refused():
    with pytest.raises(TypeRuleError, match="the pool has 2 n-grams, ngram_indexes 3 elements"):
        bigrams(ngram_indexes=(0, 1, 2)).infer(Known(TensorType(np.dtype(np.int64))))


def test_strings_with_a_pool_of_integers_are_refused():
    with pytest.raises(TypeRuleError, match="does not accept string with this pool"):
        bigrams().infer(Known(TensorType(np.dtype(object))))
