"""A profile has every node with its executions, adds up to the run, and finds what takes long."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pytest
from onnx_text import model
from traced_models import GRID, NESTED, X

import whorl
from whorl.api.tracing.profiling import profile
from whorl.api.tracing.spending import Spent

SLOW = model("""main (int64 n, float[1, 1024] x, float[1024, 1024] w) => (float[1, 1024] y) {
    [steps] y = Loop (n, , x) <body = a (int64 i, bool k, float[1, 1024] s) => (bool h, float[1, 1024] t) {
        h = Identity(k)
        m = MatMul(s, w)
        half = Constant<value = float {0.01}> ()
        u = Mul(m, half)
        t = Add(u, x)
    }>
}""")
OTHERS = "Identity 'h'", "Mul 'u'", "Add 't'"
FEEDS = {"n": np.array(40), "x": np.ones((1, 1024), np.float32), "w": np.ones((1024, 1024), np.float32)}


def flat(nodes: Sequence[Spent]) -> Iterator[Spent]:
    for each in nodes:
        yield each
        yield from flat(each.inside)


@pytest.mark.parametrize("backend", ["native", "interpreter"])
def test_node_that_takes_long_is_located_in_a_loop(backend: str) -> None:
    actual = profile(SLOW, FEEDS, backend=backend)
    nodes = {each.title: each for each in flat(actual.nodes)}
    assert backend == "interpreter" or nodes["MatMul 'm'"].share > max(nodes[title].share for title in OTHERS)
    assert nodes["MatMul 'm'"].how == ("native" if backend == "native" else "interpreted")
    assert nodes["MatMul 'm'"].times == 40
    assert nodes["MatMul 'm'"].bytes == 4096
    assert nodes["MatMul 'm'"].advice.startswith("'w' is an input of the model")


@pytest.mark.parametrize("source", [NESTED, GRID])
def test_times_add_up_to_the_run_at_every_level(source: whorl.Source) -> None:
    feeds = {"x": X[:2]} if source is GRID else {"n": np.array(4), "x": X}
    actual = profile(source, feeds)
    assert sum(each.seconds for each in actual.nodes) == pytest.approx(actual.seconds)
    for each in flat(actual.nodes):
        if each.inside:
            assert sum(inner.seconds for inner in each.inside) == pytest.approx(each.seconds)


def test_executions_of_nested_bodies_and_branches_are_counted() -> None:
    nodes = {each.title: each for each in flat(profile(NESTED, {"n": np.array(4), "x": X}).nodes)}
    counts = {title: nodes[title].times for title in ("Loop 'outer'", "Loop 'inner'", "If 'choice'", "Neg 'w'")}
    assert counts == {"Loop 'outer'": 1, "Loop 'inner'": 4, "If 'choice'": 6, "Neg 'w'": 1}
    nodes = {each.title: each for each in flat(profile(NESTED, {"n": np.array(0), "x": X}).nodes)}
    assert nodes["Neg 'w'"].how == "not reached"


def test_node_without_a_native_form_is_interpreted_or_called_back() -> None:
    source = model("""main (int64 n, string x) => (string y) {
        y = Loop (n, , x) <body = a (int64 i, bool k, string s) => (bool h, string t) {
            h = Identity(k)
            t = StringConcat(s, s)
        }>
    }""")
    nodes = {each.title: each for each in flat(profile(source, {"n": np.array(3), "x": "ab"}).nodes)}
    assert nodes["StringConcat 't'"].how in ("interpreted", "called back")
    assert nodes["StringConcat 't'"].times == 3
