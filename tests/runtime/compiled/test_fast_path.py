"""The fast path: feeds of a known signature, and those that take the long way."""

import pickle

import numpy as np
import pytest
from onnx_text import model
from runtime.native_sessions import F32, SUM, session

import whorl
from whorl.runtime.compiled.program_cache import ProgramCache


def test_feed_of_another_form_is_checked_after_a_direct_run():
    made, feeds = session(SUM), {"x": np.ones(3, F32), "y": np.ones(3, F32)}
    for _ in range(3):
        made.run(None, feeds)
    with pytest.raises(whorl.RunError, match="input 'y' is float64"):
        made.run(None, feeds | {"y": np.ones(3)})
    with pytest.raises(whorl.RunError, match="has no input 'z'"):
        made.run(None, feeds | {"z": np.ones(3, F32)})
    with pytest.raises(whorl.RunError, match="missing inputs: 'y'"):
        made.run(None, {"x": np.ones(3, F32)})
    assert made.run(["z"], {"x": [1, 1, 1], "y": np.ones(3, F32)})[0].tolist() == [2, 2, 2]


def test_feed_that_was_pickled_goes_straight_to_the_program(monkeypatch):
    made, feeds = session(SUM), {"x": np.ones(3, F32), "y": np.ones(3, F32)}
    made.run(None, feeds)
    monkeypatch.setattr(ProgramCache, "find", lambda *_: pytest.fail("the long way was taken"))
    assert made.run(None, pickle.loads(pickle.dumps(feeds)))[0].tolist() == [2, 2, 2]


def test_objects_with_dlpack_are_read_without_a_copy():
    class Exported:
        def __init__(self, array: np.ndarray) -> None:
            self.array = array

        def __dlpack__(self, **options):
            return self.array.__dlpack__(**options)

        def __dlpack_device__(self):
            return self.array.__dlpack_device__()

    (z,) = session(SUM).run(None, {"x": Exported(np.ones(3, F32)), "y": np.ones(3, F32)})
    assert z.tolist() == [2, 2, 2]
    assert np.from_dlpack(z).tolist() == [2, 2, 2]


LIST = model("""main (seq(float[K]) s, float[N] x) => (seq(float[K]) r, float total) {
    r = SequenceMap (s) <body = b (float[K] v) => (float[K] w) { w = Add(v, v) }>
    n = SequenceLength(s) f = Cast<to = 1>(n) m = ReduceSum<keepdims = 0>(x) total = Add(f, m)
}""")


def tensors(*lengths: int, dtype: type = F32) -> list[np.ndarray]:
    return [np.arange(n).astype(dtype) + n for n in lengths]


def test_lists_of_equal_arrays_go_straight_to_the_program(monkeypatch):
    made, x = session(LIST), np.ones(2, F32)
    for count in (2, 1, 5):
        made.run(None, {"s": tensors(*[3] * count), "x": x})
    monkeypatch.setattr(ProgramCache, "find", lambda *_: pytest.fail("the long way was taken"))
    for count in (5, 2, 1):
        s = tensors(*[3] * count)
        r, total = made.run(None, {"s": s, "x": x})
        assert [(a.tolist(), a.flags.owndata) for a in r] == [([6, 8, 10], True)] * count and total == count + 2
        assert [a.tolist() for a in s] == [[3, 4, 5]] * count
    assert made.run(["total"], {"s": [np.ones((3, 2), F32)[:, 0]] * 2, "x": x}) == [4]


def test_shapes_that_are_new_go_straight_to_the_program_that_serves_them(monkeypatch):
    made, listed, x = session(SUM), session(LIST), np.ones(2, F32)
    for n in (3, 1):
        made.run(None, {"x": np.ones(n, F32), "y": np.ones(n, F32)})
    for lengths in ((3, 3), (1, 4)):
        listed.run(None, {"s": tensors(*lengths), "x": x})
    monkeypatch.setattr(ProgramCache, "find", lambda *_: pytest.fail("the long way was taken"))
    for n in (7, 2, 300):
        assert made.run(None, {"x": np.ones(n, F32), "y": np.arange(n).astype(F32)})[0].tolist() == [*range(1, n + 1)]
    for lengths in ((5, 5), (3, 2, 4)):
        r, total = listed.run(None, {"s": tensors(*lengths), "x": x})
        assert [a.tolist() for a in r] == [(2 * a).tolist() for a in tensors(*lengths)] and total == len(lengths) + 2


def test_lists_of_other_arrays_take_the_long_way_after_a_direct_run():
    made, x = session(LIST), np.ones(2, F32)
    for _ in range(3):
        made.run(None, {"s": tensors(3, 3), "x": x})
    assert [a.tolist() for a in made.run(None, {"s": tensors(2, 1), "x": x})[0]] == [[4, 6], [2]]
    assert made.run(None, {"s": [], "x": x})[0] == []
    assert made.run(None, {"s": (*tensors(3, 3),), "x": x})[0][1].tolist() == [6, 8, 10]
    assert made.run(None, {"s": [[3.0, 4.0, 5.0]] * 2, "x": x})[0][1].tolist() == [6, 8, 10]
    with pytest.raises(whorl.RunError, match=r"input 's'\[1\] is float64\[3\], expected float32\[\?\]"):
        made.run(None, {"s": [*tensors(3), *tensors(3, dtype=float)], "x": x})
    with pytest.raises(whorl.RunError, match=r"input 's' is float32\[2, 3\], expected seq\(float32\[\?\]\)"):
        made.run(None, {"s": np.ones((2, 3), F32), "x": x})
    with pytest.raises(whorl.RunError, match="input 'x'"):
        made.run(None, {"s": tensors(3, 3), "x": tensors(3)})
