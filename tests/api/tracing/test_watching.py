"""`watch` shows what an interpreter that records would, in the order of iterations, each once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from onnx_text import model
from recorder import Recorder
from traced_models import NESTED, X, traced_models

import whorl
from whorl.api.tracing.watching import Watched, watch
from whorl.ir.graph import Module

BACKENDS = "native", "interpreter", None
FEEDS = {"n": np.array(4), "x": X}


def watched(source: whorl.Source, feeds: Mapping[str, Any], what: str | list[str], **options: Any) -> list[Watched]:
    actual: list[Watched] = []
    watch(source, feeds, what, actual.append, **options)
    return actual


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Module, Mapping[str, Any]]]:
    return traced_models(tmp_path_factory.mktemp("watched"))


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", ["nested", "no iteration", "OpenVINO IR", "MDF", "rank_depends_on_iteration"])
def test_every_tensor_is_shown_once_in_each_iteration(models: dict[str, Any], name: str, backend: str | None) -> None:
    module, inputs = models[name]
    recorder = Recorder(module)
    recorder.run(inputs)
    shown: dict[str, list[Any]] = {path: [] for path in recorder.entries}
    for each in watched(module, inputs, "*", backend=backend):
        for path, value in each.values.items():
            shown[path].append((tuple(number for _, number in each.loops), value.tolist()))
    expected = {path: [(at, np.asarray(x).tolist()) for at, x in rows] for path, rows in recorder.entries.items()}
    assert shown == expected


@pytest.mark.parametrize("backend", BACKENDS)
def test_condition_shows_what_it_reads_where_it_is_true(backend: str | None) -> None:
    actual = watched(NESTED, FEEDS, "max(u) > 100 and j > 0", backend=backend)
    assert [(dict(each.loops), each.condition) for each in actual] == [
        ({"outer": i, "outer/inner": j}, "max(u) > 100 and j > 0") for i, j in ((2, 1), (3, 1), (3, 2))
    ]
    assert actual[0].values["outer/inner/u"].tolist() == [8.0, 128.0, 0.5]


def test_every_nth_iteration_of_outermost_loops_is_shown() -> None:
    actual = watched(NESTED, FEEDS, ["outer/t", "inner/u"], every=3)
    assert [[number for _, number in each.loops] for each in actual] == [[0], [3, 0], [3, 1], [3, 2], [3]]


def test_outputs_equal_a_run() -> None:
    outputs = watch(NESTED, FEEDS, "t", lambda each: None, backend="native")
    for ours, expected in zip(outputs, whorl.run(NESTED, FEEDS).values(), strict=True):
        np.testing.assert_array_equal(ours, expected)


def test_what_a_run_shows_before_it_fails_is_shown_once() -> None:
    source = model("""main (int64 n, float[3] x, float y) => (float z) {
        [count] z = Loop (n, , y) <body = a (int64 i, bool k, float s) => (bool h, float t) {
            h = Identity(k)
            e = Gather(x, i)
            t = Add(e, s)
        }>
    }""")
    actual: list[Watched] = []
    feeds = {"n": np.array(5), "x": X, "y": np.float32(0)}
    with pytest.raises(whorl.RunError, match="iteration 3"):
        watch(source, feeds, "t", actual.append, backend="native")
    assert [each.loops for each in actual] == [[("count", 0)], [("count", 1)], [("count", 2)]]


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("error", [BrokenPipeError, ValueError, KeyboardInterrupt])
def test_what_show_raises_ends_the_run(error: type[BaseException], backend: str | None) -> None:
    calls: list[Watched] = []

    def show(each: Watched) -> None:
        calls.append(each)
        if len(calls) == 2:
            raise error

    with pytest.raises(error):
        watch(NESTED, FEEDS, "outer/t", show, backend=backend)
    assert len(calls) == 2


@pytest.mark.parametrize(
    ("what", "every", "text"),
    [
        ("nothing", 1, "no value of a body is called 'nothing'"),
        ("nothing > 1", 1, "the condition 'nothing > 1' reads 'nothing', which no body has"),
        ("t", 0, "every is 0"),
    ],
)
def test_what_cannot_be_watched_is_refused(what: str, every: int, text: str) -> None:
    with pytest.raises(whorl.RunError) as caught:
        watched(NESTED, FEEDS, what, every=every)
    assert str(caught.value).splitlines()[0] == text
