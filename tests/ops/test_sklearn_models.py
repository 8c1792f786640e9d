"""Models of scikit-learn, converted by skl2onnx: whorl, onnxruntime and (for text) scikit-learn itself agree."""

import warnings

import numpy as np
import onnxruntime
import pytest
from onnx import helper

from whorl.api.session import InferenceSession

skl2onnx = pytest.importorskip("skl2onnx")

from skl2onnx.common.data_types import Int64TensorType, StringTensorType  # noqa: E402
from sklearn import ensemble, linear_model, preprocessing, svm, tree  # noqa: E402
from sklearn.datasets import make_classification, make_regression  # noqa: E402
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer  # noqa: E402
from sklearn.impute import SimpleImputer  # noqa: E402

OPSETS = {"": 18, "ai.onnx.ml": 3}
onnxruntime.set_default_logger_severity(4)


def converted(estimator, *examples, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return skl2onnx.to_onnx(estimator, *examples, target_opset=OPSETS, **options)


def check(model, x):
    """Both engines give the same labels, scores and maps."""
    feeds = {model.graph.input[0].name: x}
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    for ours, theirs in zip(InferenceSession(model).run(None, feeds), session.run(None, feeds), strict=True):
        if isinstance(theirs, list):
            assert [list(row) for row in ours] == [list(row) for row in theirs]
            ours, theirs = (np.array([list(row.values()) for row in rows]) for rows in (ours, theirs))
        assert ours.dtype == theirs.dtype and ours.shape == theirs.shape
        if ours.dtype == object or ours.dtype.kind in "iu":
            assert ours.tolist() == theirs.tolist()
        else:
            np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-5)


def classes_of(count, labels):
    x, y = make_classification(150, 6, n_informative=5, n_redundant=1, n_classes=count, random_state=1)
    return x.astype(np.float32), {"int": y, "str": np.array([f"c{k}" for k in y])}[labels]


CLASSIFIERS = [
    tree.DecisionTreeClassifier(max_depth=6),
    ensemble.RandomForestClassifier(10, max_depth=5, random_state=0),
    ensemble.ExtraTreesClassifier(8, max_depth=4, random_state=0),
    ensemble.GradientBoostingClassifier(n_estimators=6, random_state=0),
    ensemble.AdaBoostClassifier(n_estimators=4),
    svm.SVC(kernel="linear"),
    svm.SVC(kernel="rbf"),
    svm.SVC(kernel="poly", degree=3, coef0=0.5),
    svm.SVC(kernel="sigmoid"),
    svm.SVC(kernel="rbf", probability=True),
    svm.SVC(kernel="linear", probability=True),
    svm.NuSVC(nu=0.2),
    svm.LinearSVC(),
    linear_model.LogisticRegression(),
]


def title(estimator):
    changed = {k: v for k, v in estimator.get_params().items() if k in ("kernel", "probability", "norm", "encode")}
    return "-".join([type(estimator).__name__, *(str(v) for v in changed.values())])


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("labels", ["int", "str"])
@pytest.mark.parametrize("count", [2, 4])
@pytest.mark.parametrize("estimator", CLASSIFIERS, ids=title)
def test_classifier(estimator, count, labels):
    x, y = classes_of(count, labels)
    estimator.fit(x, y)
    options = {} if isinstance(estimator, svm.LinearSVC) else {"zipmap": labels == "str"}
    check(converted(estimator, x[:1], options={id(estimator): options}), x)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("count", [2, 3])
@pytest.mark.parametrize("estimator", [CLASSIFIERS[3], CLASSIFIERS[6], CLASSIFIERS[-1]], ids=title)
def test_classifier_raw_scores(estimator, count):
    x, y = classes_of(count, "int")
    estimator.fit(x, y)
    check(converted(estimator, x[:1], options={id(estimator): {"zipmap": False, "raw_scores": True}}), x)


REGRESSORS = [
    tree.DecisionTreeRegressor(max_depth=6),
    ensemble.RandomForestRegressor(10, max_depth=5, random_state=0),
    ensemble.GradientBoostingRegressor(n_estimators=6, random_state=0),
    ensemble.IsolationForest(n_estimators=6, random_state=0),
    svm.SVR(kernel="rbf"),
    svm.SVR(kernel="linear"),
    svm.SVR(kernel="poly"),
    svm.SVR(kernel="sigmoid"),
    svm.NuSVR(),
    svm.OneClassSVM(),
    linear_model.LinearRegression(),
]


@pytest.mark.parametrize("estimator", REGRESSORS, ids=title)
def test_regressor(estimator):
    x, y = make_regression(100, 5, random_state=2)
    x = x.astype(np.float32)
    check(converted(estimator.fit(x, y), x[:1]), x)


@pytest.mark.parametrize("estimator", [REGRESSORS[0], REGRESSORS[1], REGRESSORS[-1]], ids=title)
def test_regressor_several_targets(estimator):
    x, y = make_regression(100, 5, n_targets=3, random_state=2)
    x = x.astype(np.float32)
    check(converted(estimator.fit(x, y), x[:1]), x)


TRANSFORMERS = [
    preprocessing.StandardScaler(),
    preprocessing.MinMaxScaler(),
    preprocessing.Normalizer("l1"),
    preprocessing.Normalizer("l2"),
    preprocessing.Normalizer("max"),
    preprocessing.Binarizer(threshold=0.2),
    preprocessing.KBinsDiscretizer(3, encode="ordinal", quantile_method="averaged_inverted_cdf"),
    preprocessing.KBinsDiscretizer(3, encode="onehot-dense", quantile_method="averaged_inverted_cdf"),
    SimpleImputer(),
    SimpleImputer(strategy="constant", fill_value=3),
]


@pytest.mark.parametrize("estimator", TRANSFORMERS, ids=title)
def test_transformer(estimator):
    x = np.random.default_rng(0).standard_normal((50, 4)).astype(np.float32)
    if isinstance(estimator, SimpleImputer):
        x[::5, 1] = np.nan
    check(converted(estimator.fit(x), x[:1]), x)


WORDS = np.array([["a", "x"], ["b", "y"], ["c", "x"], ["a", "z"]], object)
NUMBERS = np.random.default_rng(0).integers(0, 4, (30, 2))


@pytest.mark.parametrize(
    ("x", "kind"), [(WORDS, StringTensorType), (NUMBERS, Int64TensorType)], ids=["words", "numbers"]
)
@pytest.mark.parametrize(
    "estimator",
    [preprocessing.OneHotEncoder(handle_unknown="ignore", sparse_output=False), preprocessing.OrdinalEncoder()],
    ids=["one_hot", "ordinal"],
)
def test_encoder(estimator, x, kind):
    check(converted(estimator.fit(x), initial_types=[("X", kind([None, 2]))]), x)


def test_label_encoder():
    estimator = preprocessing.LabelEncoder().fit(WORDS[:, 0])
    check(converted(estimator, initial_types=[("X", StringTensorType([None]))]), WORDS[:, 0])


TEXTS = ["the cat sat on the mat", "a dog and a cat", "dogs chase cats cats chase mice", "the end"]


def without_tokenizer(model):
    """The model from the tokens on: cutting text is an operator of onnxruntime alone."""
    nodes = list(model.graph.node)
    (cut,) = (k for k, node in enumerate(nodes) if node.op_type == "Tokenizer")
    tokens = nodes[cut].output[0]
    del model.graph.node[: cut + 1], model.graph.input[:]
    model.graph.input.append(helper.make_tensor_value_info(tokens, 8, ["N", 1, "T"]))
    return model


@pytest.mark.parametrize(
    "vectorizer",
    [
        CountVectorizer(token_pattern=r"\S+"),
        CountVectorizer(token_pattern=r"\S+", ngram_range=(1, 2)),
        CountVectorizer(token_pattern=r"\S+", binary=True),
        TfidfVectorizer(token_pattern=r"\S+"),
        TfidfVectorizer(token_pattern=r"\S+", ngram_range=(2, 3), norm="l1"),
    ],
    ids=lambda v: f"{type(v).__name__}{v.ngram_range[1]}",
)
def test_text_vectorizer(vectorizer):
    expected = vectorizer.fit_transform(TEXTS).toarray()
    options = {id(vectorizer): {"tokenexp": r"\S+"}}
    model = without_tokenizer(converted(vectorizer, initial_types=[("X", StringTensorType([None]))], options=options))
    longest = max(len(text.split()) for text in TEXTS)
    cells = [text.split() + ["#"] * (longest - len(text.split())) for text in TEXTS]
    tokens = np.array(cells, object)[:, None, :]
    check(model, tokens)
    (ours,) = InferenceSession(model).run(None, {model.graph.input[0].name: tokens})
    np.testing.assert_allclose(ours, expected, rtol=1e-5, atol=1e-6)
