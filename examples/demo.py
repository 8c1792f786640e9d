"""Runs whorl on three real models with loops, one of them by way of OpenVINO, and compares all with scikit-learn.

The models come from two exporters: skl2onnx turns trained scikit-learn models into graphs with Scan, onnxscript turns
a Python function with a `while` into a graph with Loop. The data are scikit-learn's bundled data sets.
"""

import sys
import time
from pathlib import Path

import numpy as np
import onnx
from onnxscript import FLOAT, script
from onnxscript import opset21 as op
from skl2onnx import to_onnx
from sklearn.cluster import KMeans
from sklearn.datasets import load_diabetes, load_digits
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier

import whorl
from whorl import cli

Feeds = dict[str, np.ndarray]
FOLDER = Path("build") / "demo"


def nearest_neighbours() -> bool:
    """A classifier that compares an image with all the images it has seen."""
    # With this split no vote hangs on a tie, which scikit-learn breaks by the number of its threads.
    seen, unseen, labels, _ = train_test_split(*load_digits(return_X_y=True), random_state=4)
    classifier = KNeighborsClassifier(n_neighbors=5).fit(seen, labels)
    model = to_onnx(classifier, seen[:1].astype(np.float32), options={"zipmap": False})
    path = introduce(
        f"1. Which digit is this? {len(seen)} images are remembered, the 5 nearest ones vote.",
        "scikit-learn's KNeighborsClassifier, exported by skl2onnx",
        model,
        "nearest_neighbours.onnx",
    )
    each_round = f"each compares one remembered image with all {len(unseen)} new ones"
    label, probability = run(path, {"X": unseen.astype(np.float32)}, each_round)
    return all(
        [
            agrees("labels", label, classifier.predict(unseen), 0),
            agrees("probabilities", probability, classifier.predict_proba(unseen), 1e-6),
        ]
    )


def gaussian_process() -> bool:
    """A regression that gives a standard deviation with every prediction."""
    seen, unseen, progress, _ = train_test_split(*load_diabetes(return_X_y=True), random_state=0)
    kernel = ConstantKernel(5e3) * RBF(0.3) + WhiteKernel(3e3)
    regressor = GaussianProcessRegressor(kernel, random_state=0).fit(seen, progress - progress.mean())
    model = to_onnx(regressor, seen[:1], options={GaussianProcessRegressor: {"return_std": True}})
    path = introduce(
        "2. How will this patient's diabetes progress, and how sure is that?",
        "scikit-learn's GaussianProcessRegressor, exported by skl2onnx",
        model,
        "gaussian_process.onnx",
    )
    each_round = f"each compares one known patient with all {len(unseen)} new ones"
    mean, deviation = run(path, {"X": unseen}, each_round)
    expected_mean, expected_deviation = regressor.predict(unseen, return_std=True)
    return all(
        [
            agrees("means", mean.ravel(), expected_mean, 1e-9),
            agrees("standard deviations", deviation.ravel(), expected_deviation, 1e-9),
        ]
    )


@script()
def k_means(points: FLOAT["n", "d"], start: FLOAT["k", "d"], tolerance: FLOAT):  # noqa: F821 (names of dims)
    """Assigns every point to its nearest centre and moves each centre to the mean of its points, until none moves."""
    centres = op.Identity(start)
    rounds = op.Constant(value_int=0)
    count = op.Shape(start, start=0, end=1)
    going = tolerance >= 0.0
    while going:
        apart = op.Unsqueeze(points, [1]) - op.Unsqueeze(centres, [0])
        nearest = op.ArgMin(op.ReduceSumSquare(apart, [2], keepdims=0), axis=1, keepdims=0)
        member = op.OneHot(nearest, count, op.Constant(value_floats=[0.0, 1.0]), axis=0)
        moved = op.MatMul(member, points) / op.ReduceSum(member, [1], keepdims=1)
        going = op.ReduceSumSquare(moved - centres, keepdims=0) > tolerance
        centres = op.Identity(moved)
        rounds = rounds + 1
    return centres, rounds


def clustering() -> bool:
    """An algorithm that stops when it is done: nobody knows how often its loop goes round."""
    images = load_digits().data.astype(np.float32)
    start = images[:10]
    model = k_means.to_model_proto()
    path = introduce(
        "3. Ten groups of similar images, found without knowing the digits.",
        "a Python function with a `while`, exported by onnxscript",
        model,
        "k_means.onnx",
    )
    feeds = {"points": images, "start": start, "tolerance": np.array(0, np.float32)}
    centres, rounds = run(path, feeds, "then no centre moved any more")
    expected = KMeans(10, init=start, n_init=1, tol=0, algorithm="lloyd").fit(images)
    return all(
        [
            agrees("centres", centres, expected.cluster_centers_, 1e-3),
            agrees("number of rounds", rounds, expected.n_iter_, 0),
            through_ir(path, feeds, [centres, rounds]),
        ]
    )


def through_ir(model: Path, feeds: Feeds, before: list[np.ndarray]) -> bool:
    """Converts a model to OpenVINO IR and back to ONNX; all three must give the same."""
    ir, back = model.with_suffix(".xml"), model.with_name(f"{model.stem}_back.onnx")
    print("\nThe same model as OpenVINO IR, and back in ONNX:")
    for source, target in ((model, ir), (ir, back)):
        print(f"\n$ whorl convert {source} {target}")
        cli.main(["convert", str(source), str(target)])
    passed = {"whorl, back in ONNX": whorl.InferenceSession(back).run(None, feeds)}
    try:
        passed["OpenVINO"] = run_openvino(ir, feeds)
    except ImportError:
        print("\nopenvino is not installed; with `pip install openvino`, it would run the .xml file here.")
    names = ("centres", "number of rounds")
    checks = [
        agrees(f"{name} by {engine}", value, expected, 1e-3, "whorl before the conversion")
        for engine, outputs in passed.items()
        for name, value, expected in zip(names, outputs, before, strict=True)
    ]
    return all(checks)


def run_openvino(model: Path, feeds: Feeds) -> list[np.ndarray]:
    """All outputs of IR by OpenVINO. Errors: ImportError where it is not installed."""
    modules: dict[str, object] = sys.modules  # type: ignore[assignment]
    modules.setdefault("openvino_telemetry", None)
    import openvino

    compiled = openvino.Core().compile_model(model, "CPU", {"EXECUTION_MODE_HINT": "ACCURACY"})
    results = compiled(feeds)
    return [np.array(results[k]) for k in range(len(compiled.outputs))]


def introduce(title: str, origin: str, model: onnx.ModelProto, name: str) -> Path:
    """Says what comes, writes the model to a file, and shows the file as the command line does."""
    path = FOLDER / name
    onnx.save(model, path)
    print(f"\n{title}\nThe model: {origin}.\n\n$ whorl show {path}")
    cli.main(["show", str(path)])
    return path


def run(model: Path, feeds: Feeds, each_round: str) -> list[np.ndarray]:
    """All outputs of a model; says how long it took, and how often its loop really went round."""
    rounds = [0]
    options = whorl.SessionOptions()
    options.progress = lambda loop, done, total: rounds.append(done)
    session = whorl.InferenceSession(model, options)
    start = time.perf_counter()
    outputs = session.run(None, feeds)
    seconds = time.perf_counter() - start
    print(f"\nwhorl ran it in {seconds:.2f} s. The loop went round {rounds[-1]} times: {each_round}.")
    return outputs


def agrees(what: str, ours: np.ndarray, theirs: np.ndarray, tolerance: float, who: str = "scikit-learn") -> bool:
    """Says how far two results are apart; true where they differ by no more than the tolerance."""
    ours, theirs = np.asarray(ours), np.asarray(theirs)
    equal = ours.shape == theirs.shape and np.allclose(ours, theirs, rtol=0, atol=tolerance)
    verdict = f"as {who} says" if equal else f"NOT what {who} says"
    apart = np.abs(ours - theirs).max() if ours.shape == theirs.shape else np.inf
    print(f"  {what} {list(ours.shape)}: {verdict}; the largest difference is {apart:.2g}")
    return equal


def main() -> int:
    FOLDER.mkdir(parents=True, exist_ok=True)
    results = [nearest_neighbours(), gaussian_process(), clustering()]
    if not all(results):
        print(f"\n{results.count(False)} of {len(results)} models disagree with scikit-learn.")
        return 1
    print(
        "\nWhat happened: two exporters turned three programs into ONNX models that contain loops. whorl read the"
        "\nmodels, showed what each loop carries from round to round, ran them, and got the numbers that scikit-learn"
        "\ncomputes without ONNX. One model went to OpenVINO and came back, loop and all."
        f"\nThe models are in {FOLDER}; `.venv/bin/whorl --help` says what else can be done."
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
