"""The suites on several cores that share all that they may: the bits and the errors are those of one core."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from onnx.backend.test.loader import load_model_tests
from spreading import session_of, share_everything, steps_handed_out

import whorl
from whorl.conformance.cases import load_themes
from whorl.runtime.compiled import cores

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not cores.is_supported(), reason="threads of this system are not known"),
]
THREADS = (2, 3, 8)
"""Numbers of threads, of which each model has one."""
EVERY = 16
"""One in so many models of onnx's suite."""
THEMES = load_themes()


def bits_of(value: Any) -> object:
    """What a value is, down to the sign of a zero and the payload of a NaN."""
    if value is None:
        return None
    if isinstance(value, list | tuple):
        return [bits_of(each) for each in value]
    array = np.asarray(value)
    return str(array.dtype), array.shape, array.tolist() if array.dtype.kind in "OUT" else array.tobytes()


def outcome(data: bytes, feeds: Mapping[str, Any], threads: int) -> object:
    """The bits of what a model gives, or the text of its error."""
    try:
        return bits_of(session_of(data, threads).run(None, dict(feeds)))
    except whorl.WhorlError as error:
        return f"{type(error).__name__}: {error}"


def differing(models: Sequence[tuple[str, bytes, Mapping[str, Any]]]) -> list[str]:
    """The models which several cores give something else, except those that give two sessions something else."""
    result = []
    for number, (name, data, feeds) in enumerate(models):
        expected = outcome(data, feeds, 1)
        differs = outcome(data, feeds, THREADS[number % len(THREADS)]) != expected
        if differs and outcome(data, feeds, 1) == expected:
            result.append(name)
    return result


@pytest.mark.parametrize("theme", THEMES)
def test_conformance_cases_give_the_same_on_any_number_of_cores(theme: str, monkeypatch: pytest.MonkeyPatch) -> None:
    share_everything(monkeypatch)
    assert differing([(case.name, case.data, case.inputs) for case in THEMES[theme]]) == []


def test_models_of_the_backend_suite_give_the_same_on_any_number_of_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    share_everything(monkeypatch)
    cases = load_model_tests(kind="node")[::EVERY]
    models = [
        (case.name, case.model.SerializeToString(), dict(zip(names_of(case.model), inputs, strict=False)))
        for case in cases
        for inputs, _ in case.data_sets[:1]
    ]
    assert len(models) > 100
    assert differing(models) == []
    assert steps_handed_out() > 0


def names_of(model: Any) -> list[str]:
    return [each.name for each in model.graph.input]


def test_bits_tell_zeros_and_kinds_of_nan_apart() -> None:
    assert bits_of([np.float32(0.0)]) != bits_of([np.float32(-0.0)])
    assert bits_of(None) is None and bits_of(np.array(["a"], object)) == ("object", (1,), ["a"])
