"""The benchmark of many shapes: its families, their files, and what counts as a miss."""

import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import whorl

BENCH = Path(__file__).parents[2] / "bench"


@pytest.fixture
def shapes(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(BENCH))
    return __import__("shapes")


def test_calls_of_each_family_have_labels_of_their_own(shapes: ModuleType) -> None:
    for name, make in shapes.FAMILIES.items():
        family = make()
        assert family.name == name
        assert len({call.label for call in family.calls}) == len(family.calls) > 4


def test_quick_takes_the_first_the_last_and_some_between(shapes: ModuleType) -> None:
    family = shapes.FAMILIES["decoder"]()
    assert [call.label for call in family.quick().calls] == [f"past {k}" for k in (0, 10, 20, 29, 39)]


@pytest.mark.parametrize("name", ["lstm", "detection", "knn"])
def test_exported_model_runs_the_calls_that_are_read_back(shapes: ModuleType, name: str, tmp_path: Path) -> None:
    family = shapes.FAMILIES[name]().quick()
    family.export(tmp_path)
    engines = sys.modules["shapes_models.engines"]
    calls = engines.read_calls(tmp_path)
    assert list(calls.labels) == [call.label for call in family.calls]
    for call, feeds in zip(family.calls, calls.feeds, strict=True):
        for key, array in call.feeds.items():
            np.testing.assert_array_equal(feeds[key], array)
    options = whorl.SessionOptions()
    options.backend = "interpreter"
    whorl.InferenceSession(engines.model_path(tmp_path), options).run(None, calls.feeds[0])


def test_answer_misses_what_is_above_its_target(shapes: ModuleType) -> None:
    family = shapes.FAMILIES["lstm"]()

    def first(seconds: float, memory: int = 100) -> object:
        return shapes.First(seconds, seconds, (), memory)

    steady = (shapes.Steady("length 4", 1.0, 1.0), shapes.Steady("length 5", 1.2, 1.0))
    good = shapes.Answer(family, first(1.5), first(1.2), first(1.0), steady[:1])
    bad = shapes.Answer(family, first(1.7), first(1.4), first(1.0, 40), steady)
    assert good.misses == []
    assert bad.misses == ["cold", "warm", "memory", "steady"]
    assert [each.label for each in bad.lost] == ["length 5"]
    printed = "\n".join(shapes.table([good, bad]))
    assert "missed: cold, warm, memory" in printed and "lstm loses length 5 (1.20)" in printed
