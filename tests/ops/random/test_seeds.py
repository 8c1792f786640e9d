"""Seeds of random ops that have none of their own."""

import numpy as np
import pytest
from onnx_text import model

import whorl
from whorl.ops.random.distributions import RandomNormal
from whorl.ops.random.seeds import SEEDS, Seeds

TEXT = """main (float[4] x, int64 k) => (float[4] y, float[4] z, float[k, 4] rows) {
    y = RandomNormalLike (x)
    z = RandomNormalLike (x)
    rows = Loop (k, "") <body = step (int64 i, bool go) => (bool on, float[4] row) {
        on = Identity (go)
        row = RandomUniformLike (x)
    }>
}"""
FEEDS = {"x": np.zeros(4, np.float32), "k": np.array(3)}


@pytest.fixture(autouse=True)
def unseeded(monkeypatch):
    monkeypatch.setattr(SEEDS, "_source", None)


def test_without_a_seed_every_generator_is_another():
    assert Seeds().following() is None
    op = RandomNormal(shape=(8,))
    assert not np.array_equal(op.run(), op.run())


def test_seed_repeats_the_order():
    orders = []
    for seed in (3, 3, 4, -1, 2**40):
        seeds = Seeds()
        seeds.start(seed)
        orders.append([seeds.following() for _ in range(4)])
        assert len(set(orders[-1])) == 4
    assert orders[0] == orders[1] != orders[2]


@pytest.mark.parametrize("backend", ["native", "interpreter"])
def test_runs_repeat_after_the_same_seed(backend):
    options = whorl.SessionOptions()
    options.backend = backend
    session = whorl.InferenceSession(model(TEXT), options)

    def runs():
        whorl.set_seed(5)
        return [session.run(None, FEEDS) for _ in range(2)]

    first, again = runs(), runs()
    for one, other in zip(first, again, strict=True):
        for a, b in zip(one, other, strict=True):
            np.testing.assert_array_equal(a, b)
    assert not np.array_equal(first[0][0], first[0][1])
    assert not np.array_equal(first[0][0], first[1][0])
    assert len({row.tobytes() for row in first[0][2]}) == 3


def test_seed_of_an_op_goes_before():
    op = RandomNormal(seed=1.0, shape=(8,))
    alone = op.run()
    SEEDS.start(9)
    np.testing.assert_array_equal(op.run(), alone)
