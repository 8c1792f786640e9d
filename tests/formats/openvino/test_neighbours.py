"""scikit-learn's nearest neighbours, as skl2onnx exports them and whorl writes them as IR, run in OpenVINO.

The expected outputs are those of scikit-learn. Where neighbours are weighted by distance, skl2onnx means other weights,
and onnxruntime gives what the export says.
"""

import warnings

import numpy as np
import onnxruntime
import pytest
from formats.openvino.engine import Engine

import whorl

skl2onnx = pytest.importorskip("skl2onnx", reason="skl2onnx is not installed")
pytest.importorskip("openvino", reason="openvino has no wheel for this platform")

from sklearn import neighbors, pipeline, preprocessing  # noqa: E402

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 4)).astype(np.float32)
NEW = RNG.normal(size=(7, 4)).astype(np.float32)
CLASSES = (X[:, 0] > 0).astype(np.int64) + (X[:, 1] > 0.5)
VALUES = (X @ np.array([1, 2, 3, 4], np.float32)).astype(np.float32)
CLASSIFIERS = {
    "uniform": neighbors.KNeighborsClassifier(3),
    "by distance": neighbors.KNeighborsClassifier(4, weights="distance"),
    "Manhattan": neighbors.KNeighborsClassifier(5, metric="manhattan"),
}
REGRESSORS = {
    "uniform": neighbors.KNeighborsRegressor(3),
    "by distance": neighbors.KNeighborsRegressor(3, weights="distance"),
    "Manhattan": neighbors.KNeighborsRegressor(3, metric="manhattan"),
    "Minkowski": neighbors.KNeighborsRegressor(3, metric="minkowski", p=3),
}
OPSETS = (11, 15, 21)


@pytest.fixture(scope="module")
def engine():
    actual = Engine()
    yield actual
    actual.close()


def exported(estimator, opset, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        targets = {"": opset, "ai.onnx.ml": 3}
        return skl2onnx.to_onnx(estimator, X[:1], target_opset=targets, options={id(estimator): options})


def through_openvino(engine, model, path):
    """What OpenVINO gives for seven, one and three rows, of one compiled model."""
    whorl.save(whorl.load(model), path)
    runs = [[NEW[:count]] for count in (7, 1, 3)]
    return engine.run(path.read_bytes(), path.with_suffix(".bin").read_bytes(), runs)


def in_onnxruntime(model, passed):
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    return session.run(None, {model.graph.input[0].name: passed})


@pytest.mark.parametrize("opset", OPSETS)
@pytest.mark.parametrize("what", CLASSIFIERS)
def test_neighbours_classify(engine, what, opset, tmp_path):
    estimator = CLASSIFIERS[what].fit(X, CLASSES)
    model = exported(estimator, opset, zipmap=False)
    for labels, scores in through_openvino(engine, model, tmp_path / "m.xml"):
        passed = NEW[: len(labels)]
        expected = estimator.predict(passed), estimator.predict_proba(passed)
        if estimator.weights == "distance":
            expected = in_onnxruntime(model, passed)
        np.testing.assert_array_equal(labels, expected[0])
        np.testing.assert_allclose(scores, expected[1], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("opset", OPSETS)
@pytest.mark.parametrize("outputs", [1, 2])
@pytest.mark.parametrize("what", REGRESSORS)
def test_neighbours_predict(engine, what, outputs, opset, tmp_path):
    targets = VALUES if outputs == 1 else np.stack([VALUES, -VALUES], 1)
    estimator = REGRESSORS[what].fit(X, targets)
    model = exported(estimator, opset)
    for (actual,) in through_openvino(engine, model, tmp_path / "m.xml"):
        passed = NEW[: len(actual)]
        expected = estimator.predict(passed)
        if estimator.weights == "distance":
            (expected,) = in_onnxruntime(model, passed)
        np.testing.assert_allclose(actual.reshape(expected.shape), expected, rtol=1e-4, atol=1e-5)


def test_neighbours_give_labels_of_text(engine, tmp_path):
    estimator = CLASSIFIERS["uniform"].fit(X, np.array(["red", "green", "blue"])[CLASSES])
    for labels, _ in through_openvino(engine, exported(estimator, 15, zipmap=False), tmp_path / "m.xml"):
        assert [text.decode() for text in labels] == estimator.predict(NEW[: len(labels)]).tolist()


def test_neighbours_behind_a_scaler(engine, tmp_path):
    estimator = pipeline.make_pipeline(preprocessing.StandardScaler(), neighbors.KNeighborsClassifier(3))
    model = exported(estimator.fit(X, CLASSES), 15, zipmap=False)
    assert "Scaler" in {node.op_type for node in model.graph.node}
    for labels, scores in through_openvino(engine, model, tmp_path / "m.xml"):
        np.testing.assert_array_equal(labels, estimator.predict(NEW[: len(labels)]))
        np.testing.assert_allclose(scores, estimator.predict_proba(NEW[: len(labels)]), rtol=1e-5, atol=1e-6)


def test_distances_to_neighbours(engine, tmp_path):
    estimator = neighbors.KNeighborsTransformer(n_neighbors=3, mode="distance").fit(X)
    for (actual,) in through_openvino(engine, exported(estimator, 15), tmp_path / "m.xml"):
        expected = np.asarray(estimator.transform(NEW[: len(actual)]).todense())
        np.testing.assert_allclose(actual, expected, rtol=1e-4, atol=1e-5)
