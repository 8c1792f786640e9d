"""How long do models take that scikit-learn, torch, jax and silero-vad export, beside onnxruntime?

The cases of `tests/exports`, each a model with three shapes of feeds. whorl's results are compared with onnxruntime's
first, and what loading and the first run of each shape took is kept, with an empty code cache; then both run the
shapes in turns, in this process, on one thread. Seconds are CPU of the process.
`python bench/real_models.py sklearn torch-lstm --keep FOLDER --json FILE`: a word chooses the models that begin with
it, and a folder keeps exports for the next time.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import json
import math
import os
import pickle
import statistics
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

from measuring import US, cpu, in_turns, machine, repeated, use_one_thread

use_one_thread()
if __name__ == "__main__":
    os.environ["WHORL_REQUIRE_EXPORTS"] = "1"
sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

import numpy as np
import onnxruntime
from exports.harness import Export, compare
from onnxruntime.capi import onnxruntime_pybind11_state as peer_errors

import whorl

ROUNDS, WARM_UP = 7, 3
PEER = "onnxruntime"
MOST, FEW, WORST, MEAN = 1.2, 0.02, 1.5, 0.4
"""A model is lost above `MOST` times the peer's time; `FEW` of all may be, none above `WORST`."""
TOLERANCE = 64
"""How much more than the rounding of a case may lie between two engines."""
PEER_REFUSES = tuple(
    getattr(peer_errors, name) for name in ("Fail", "InvalidArgument", "InvalidGraph", "NotImplemented")
)
Feeds = Mapping[str, Any]


@dataclass(frozen=True)
class Model:
    """An export's bytes, the feeds of its shapes, and how much it enlarges rounding."""

    data: bytes
    feeds: tuple[Feeds, ...]
    amplification: float


@dataclass(frozen=True)
class Answer:
    """Microseconds of one run of each shape, and milliseconds of loading and the first ones, of both engines."""

    name: str
    steady: Mapping[str, float]
    first: Mapping[str, float]

    @property
    def ratio(self) -> float:
        return self.steady[US] / self.steady[PEER]


def sklearn_exports() -> Iterator[tuple[str, Callable[[], Export]]]:
    from exports import sklearn_estimators as estimators
    from exports.sklearn_models import export_of

    for name, case in estimators.CASES.items():
        if name not in estimators.REFUSED and name not in estimators.UNSUPPORTED:
            yield f"sklearn-{name}", partial(export_of, case)


def torch_exports() -> Iterator[tuple[str, Callable[[], Export]]]:
    from exports import test_torch
    from exports.torch_export import export_of

    for name, exporter in test_torch.PAIRS:
        if (name, exporter) not in test_torch.REFUSED:
            yield f"torch-{name}-{exporter}", partial(export_of, test_torch.CASES[name], exporter)


def jax_exports() -> Iterator[tuple[str, Callable[[], Export]]]:
    from exports import test_jax
    from exports.jax_export import export_of

    for name, case in test_jax.CASES.items():
        if name not in test_jax.REFUSED:
            yield f"jax-{name}", partial(export_of, case)


def silero_exports() -> Iterator[tuple[str, Callable[[], Export]]]:
    from exports import test_silero

    for path in sorted(test_silero.FILES.glob("*.onnx")):
        yield f"silero-{path.stem}", partial(silero_export, path)


def silero_export(path: Path) -> Export:
    """Chunks of speech of 1, 2 and 4 streams, or one after another, with the state that they begin with."""
    inputs = {argument.name: argument.shape for argument in whorl.InferenceSession(path).get_inputs()}

    def draw(batch: int, rng: np.random.Generator) -> Feeds:
        batch = 1 if inputs["input"][0] == 1 else batch
        shapes = {"input": (batch, 576), "state": (2, batch, 128), "h": (1, 1, 128), "c": (1, 1, 128)}
        feeds = {name: rng.normal(0, 0.1, shape).astype(np.float32) for name, shape in shapes.items()}
        return {name: np.array(16000) if name == "sr" else feeds[name] for name in inputs}

    return Export(path, (1, 2, 4), draw, lambda feeds: [])


def is_installed(family: str) -> bool:
    """Whether what exports the models of a family is there."""
    return all(importlib.util.find_spec(name) for name in PACKAGES[family])


PACKAGES = {
    "sklearn": ["sklearn", "skl2onnx"],
    "torch": ["torch", "onnxscript"],
    "jax": ["jax", "jax2onnx"],
    "silero": ["silero_vad", "torch"],
}
FAMILIES = {"sklearn": sklearn_exports, "torch": torch_exports, "jax": jax_exports, "silero": silero_exports}


def model_of(export: Export) -> Model:
    data = export.model.read_bytes() if isinstance(export.model, Path) else export.model.SerializeToString()
    feeds = [export.draw(shape, np.random.default_rng([0, n])) for n, shape in enumerate(export.shapes)]
    return Model(data, tuple(dict(each) for each in feeds), export.amplification)


def stored_model(name: str, make: Callable[[], Export], folder: Path | None) -> Model:
    """The export, from the folder if it has been there before."""
    path = folder and folder / f"{name}.pickle"
    if path and path.exists():
        return Model(*pickle.loads(path.read_bytes()))
    model = model_of(make())
    if path:
        path.write_bytes(pickle.dumps((model.data, model.feeds, model.amplification)))
    return model


def peer_session(data: bytes) -> onnxruntime.InferenceSession:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    return onnxruntime.InferenceSession(data, options, providers=["CPUExecutionProvider"])


def own_session(data: bytes) -> whorl.InferenceSession:
    options = whorl.SessionOptions()
    options.intra_op_num_threads = 1
    return whorl.InferenceSession(data, options)


SESSIONS: dict[str, Callable[[bytes], Any]] = {PEER: peer_session, US: own_session}


def measure(name: str, model: Model) -> Answer:
    """Load and first runs, whose results are compared; then steady runs in turns."""
    first: dict[str, float] = {}
    runs: dict[str, Callable[[], list[Any]]] = {}
    results: dict[str, list[Any]] = {}

    def begin(engine: str) -> None:
        session = SESSIONS[engine](model.data)
        runs[engine] = lambda: [session.run(None, feeds) for feeds in model.feeds]
        results[engine] = runs[engine]()

    for engine in SESSIONS:
        first[engine] = 1e3 * cpu(partial(begin, engine))
    for _ in range(WARM_UP):
        for run in runs.values():
            run()
    for expected, result in zip(results[PEER], results[US], strict=True):
        compare(expected, result, TOLERANCE * model.amplification, name)
    steady = in_turns({engine: repeated(partial(cpu, run)) for engine, run in runs.items()}, ROUNDS)
    return Answer(name, {engine: 1e6 * seconds for engine, seconds in steady.items()}, first)


def mean(answers: Sequence[Answer]) -> float:
    return math.exp(statistics.fmean(math.log(answer.ratio) for answer in answers))


def table(answers: Sequence[Answer]) -> Iterator[str]:
    """A family a line; then the losses, the largest first."""
    yield f"  {'family':<9}{'models':>7}{'mean':>8}{'lost':>6}{'worst':>8}   first runs, ms: {US}, {PEER}"
    for family in [*FAMILIES, ""]:
        if own := [answer for answer in answers if answer.name.startswith(family)]:
            lost = sum(answer.ratio > MOST for answer in own)
            first = "".join(
                f"{statistics.median(answer.first[engine] for answer in own):>9.1f}" for engine in (US, PEER)
            )
            figures = f"{mean(own):>8.3f}{lost:>6}{max(answer.ratio for answer in own):>8.2f}"
            yield f"  {family or 'all':<9}{len(own):>7}{figures}   medians{first}"
    for answer in sorted(answers, key=lambda answer: -answer.ratio):
        if answer.ratio > MOST:
            steady = "".join(f"{answer.steady[engine]:>10.1f}" for engine in (US, PEER))
            yield f"  lost: {answer.name:<58}{answer.ratio:>7.2f}{steady} us"


def misses(answers: Sequence[Answer]) -> bool:
    lost = sum(answer.ratio > MOST for answer in answers)
    return lost > FEW * len(answers) or mean(answers) > MEAN or any(answer.ratio > WORST for answer in answers)


def measure_all(words: Sequence[str], folder: Path | None) -> tuple[list[Answer], dict[str, str]]:
    """The answers, and what the peer or the comparison said of the others."""
    answers: list[Answer] = []
    refused: dict[str, str] = {}
    for family, exports in FAMILIES.items():
        if words and not any(word.startswith(family) for word in words):
            continue
        for name, make in exports() if is_installed(family) else ():
            if words and not name.startswith(tuple(words)):
                continue
            print(f"measuring {name}", file=sys.stderr)
            try:
                answers.append(measure(name, stored_model(name, make, folder)))
            except (AssertionError, *PEER_REFUSES) as error:
                refused[name] = " ".join(str(error).split())[:160]
    return answers, refused


def main() -> int:
    question = (__doc__ or "").partition("\n")[0]
    parser = argparse.ArgumentParser(description=question)
    parser.add_argument("words", nargs="*", metavar="WORD", help=f"models that begin so, of {', '.join(FAMILIES)}")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="keep exports there, and take them from there")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all that was measured into a file")
    options = parser.parse_args()
    onnxruntime.set_default_logger_severity(4)
    if options.keep:
        options.keep.mkdir(parents=True, exist_ok=True)
    answers, refused = measure_all(options.words, options.keep)
    print(f"{question} " + ", ".join(f"{key} {value}" for key, value in machine().items()))
    print("\n".join(table(answers)))
    print("\n".join(f"  not measured: {name}: {reason}" for name, reason in refused.items()))
    if options.json:
        models = [asdict(answer) | {"ratio": answer.ratio} for answer in answers]
        options.json.write_text(json.dumps({"machine": machine(), "models": models, "refused": refused}, indent=1))
    return int(misses(answers))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as cache, contextlib.suppress(KeyboardInterrupt):
        os.environ["WHORL_CACHE"] = cache
        sys.exit(main())
